#!/bin/sh
# The container's entry point: one subscription, read by a runtime that reaches the source and the API, and no database.
#
#   PENSTOCK_SUBSCRIPTION   the subscription's path
#   PENSTOCK_SERVER_URL     the server of `penstock serve`, https://…; http only if the credential says allow_http: true
#   PENSTOCK_TOKEN_ALIAS    the alias of its token in the file of credentials; server if left out
#   PENSTOCK_SECRET         the mounted file of credentials; /secrets/credentials.yaml if left out
#   PENSTOCK_ONCE           1: read what is there, and end (a job); else go on (a service)
#   PENSTOCK_WAIT_S         how long to wait for the place of a runtime that still runs, as at a new revision; 600 if left out
#   PENSTOCK_MASTER         Spark's master; local[2] if left out
#   PORT                    where the platform looks whether it lives: /metrics answers there
set -eu
app=${PENSTOCK_APP:-/app}
home=${PENSTOCK_HOME:-/tmp/penstock}
secret=${PENSTOCK_SECRET:-/secrets/credentials.yaml}
: "${PENSTOCK_SUBSCRIPTION:?is not set: the path of the subscription to read}"
: "${PENSTOCK_SERVER_URL:?is not set: the address of penstock serve, such as https://penstock.example.com}"
if [ ! -r "$secret" ]; then
  echo "there is no file of credentials at $secret: mount the secret there, or set PENSTOCK_SECRET" >&2
  exit 2
fi
# platforms mount secrets for everybody to read, and such a file is refused
mkdir -p "$home"
umask 077
cp "$secret" "$home/credentials.yaml"
chmod 600 "$home/credentials.yaml"
PENSTOCK_HOME=$home
PENSTOCK_CREDENTIALS=$home/credentials.yaml
export PENSTOCK_HOME PENSTOCK_CREDENTIALS
unset PENSTOCK_DATABASE_URL
set -- subscription run "$PENSTOCK_SUBSCRIPTION" --server-url "$PENSTOCK_SERVER_URL" \
  --token-alias "${PENSTOCK_TOKEN_ALIAS:-server}" --master "${PENSTOCK_MASTER:-local[2]}" --wait "${PENSTOCK_WAIT_S:-600}"
if [ "${PENSTOCK_ONCE:-}" = 1 ]; then
  set -- "$@" --once
elif [ -n "${PORT:-}" ]; then
  PENSTOCK_METRICS_HOST=0.0.0.0
  export PENSTOCK_METRICS_HOST
  set -- "$@" --metrics-port "$PORT"
fi
exec "$app/bin/penstock" "$@"
