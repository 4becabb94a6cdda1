-- fn_drain_done: these messages are acknowledged: nobody has to be kept from them any more.
--   p_place, p_messages  as of fn_drain_take; those of a step that has not succeeded stay
--   writes               once_key
create or replace function penstock.fn_drain_done(p_place text, p_messages text[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from penstock.once_key k
   where k.scope = 'drain:' || p_place and k.key = any (p_messages)
     and exists (select from penstock.job_outcome o
                  where o.job_id = split_part(k.ref, ':', 1)::bigint and o.lease_token = split_part(k.ref, ':', 2)::bigint
                    and o.status = 'succeeded')
$$;
