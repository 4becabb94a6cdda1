-- tx_shifted: the number of a transaction of this cluster, as the event log counts them.
create or replace function penstock.tx_shifted(p_tx xid8, p_base bigint) returns xid8
language sql immutable
return case when p_base = 0 then p_tx else (p_tx::text::bigint + p_base)::text::xid8 end;
