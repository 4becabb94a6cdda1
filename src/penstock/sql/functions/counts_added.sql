-- counts_added: two objects of counts as one.
create or replace function penstock.counts_added(p_a jsonb, p_b jsonb) returns jsonb
language sql immutable
return (select jsonb_object_agg(k.key, coalesce((p_a ->> k.key)::bigint, 0) + coalesce((p_b ->> k.key)::bigint, 0))
          from (select jsonb_object_keys(p_a) union select jsonb_object_keys(p_b)) k(key));
