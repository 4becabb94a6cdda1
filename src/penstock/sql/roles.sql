-- The group roles, made once per server. A role that exists is left as it is.
do $$
declare
  v_missing text[] := array(
    select r from unnest(array['workflow_admin', 'dot_executor', 'penstock_producer', 'penstock_mot', 'penstock_pipeline',
                               'penstock_gateway', 'penstock_reader']) r
     where not exists (select from pg_roles o where o.rolname = r) order by r);
  v_role text;
begin
  foreach v_role in array v_missing loop
    begin
      execute format('create role %I nologin', v_role);
    exception when duplicate_object or unique_violation then
      null;  -- roles belong to the server: another of its databases was migrated at the same time
    end;
  end loop;
exception when insufficient_privilege then
  raise insufficient_privilege using
    message = format('%s may not create roles, and this server lacks %s', current_user, array_to_string(v_missing, ', ')),
    hint = 'Migrate once as a superuser or as a user with CREATEROLE; or have one run: create role '
           || array_to_string(v_missing, ' nologin; create role ') || ' nologin;';
end $$;
