-- token_speaks: whether a caller is the gateway, and an actor that of one of its live tokens.
create or replace function penstock.token_speaks(p_caller text, p_actor text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select pg_has_role(p_caller::name, 'penstock_gateway', 'usage')
     and exists (select from penstock.v_api_token t where t.actor = p_actor and t.state = 'live')
$$;
