-- The group roles, made once per server. A role that exists is left as it is.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['workflow_admin', 'dot_executor', 'penstock_producer', 'penstock_mot',
                                'penstock_pipeline', 'penstock_gateway', 'penstock_reader'] loop
    if not exists (select from pg_roles where rolname = v_role) then
      execute format('create role %I nologin', v_role);
    end if;
  end loop;
end $$;
