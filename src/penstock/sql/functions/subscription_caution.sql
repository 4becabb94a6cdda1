-- subscription_caution: what may go wrong unseen with a subscription as it stands; null when nothing may.
--   The words are those of SubscriptionSpec.cautions in catalog/subscription.py.
--   reads  subscription, catalog
create or replace function penstock.subscription_caution(p_path text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select 'an older copy of the database, once restored, is not noticed here: what was acknowledged since is missing then. '
         'Say restore_mark: true (the login needs roles/pubsub.editor for it), or seek the Pub/Sub subscription back after a restore'
    from penstock.subscription s join penstock.catalog c on c.path = s.path and c.version = s.version
   where s.path = p_path and c.content #>> '{spec,source}' = 'pubsub' and c.content #>> '{spec,mode}' = 'pull'
     and c.content #>> '{spec,restore_mark}' is distinct from 'true'
$$;
