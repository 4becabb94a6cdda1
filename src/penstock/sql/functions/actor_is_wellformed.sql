-- actor_is_wellformed: role:, agency:, user:, agent:, consumer: or system: and a name without spaces, as the domain actor_ref.
create or replace function penstock.actor_is_wellformed(p_actor text) returns boolean
language sql immutable
return coalesce(p_actor ~ '^(role|agency|user|agent|consumer|system):[^[:space:][:cntrl:]]+$' and length(p_actor) <= 210, false);
