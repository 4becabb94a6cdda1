-- actor_is_wellformed: role:, agency:, user:, agent:, consumer: or system: and a name without spaces, as the domain actor_ref.
create or replace function penstock.actor_is_wellformed(p_actor text) returns boolean
language sql immutable
return coalesce(split_part(p_actor, ':', 1) in ('role', 'agency', 'user', 'agent', 'consumer', 'system')
                and strpos(p_actor, ':') between 2 and length(p_actor) - 1 and length(p_actor) <= 210
                and p_actor collate "C" !~ '[[:space:][:cntrl:]]', false);
