-- fn_catalog_register: add an entry to the catalog, or a new version of one.
--   p_path, p_kind  Playbook or Subscription; a path never changes its kind
--   p_content       what the file says, already checked by `penstock validate`'s rules
--   p_source        the file's text
--   p_graph         of a Playbook: its steps and arcs; null for one of one step
--   returns         the version; the newest one again, and false, when nothing has changed
--   refuses         playbooks and pools that do not exist, with PS016 and PS003; a step's timeout_s above its kind's, with PS011
--   writes          catalog; for a Playbook its graph; for a Subscription also subscription, subscription_runtime, execution_event
--   locks           advisory, per path, so that two registers make one version
create or replace function penstock.fn_catalog_register(
  p_path text, p_kind text, p_content jsonb, p_source text, p_actor text default null, p_graph jsonb default null)
returns table (version integer, created boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_last penstock.catalog;
begin
  perform pg_advisory_xact_lock(hashtextextended('penstock.catalog:' || p_path, 0));
  select * into v_last from penstock.catalog c where c.path = p_path order by c.version desc limit 1;
  if v_last.kind <> p_kind then
    raise exception using errcode = 'PS011', message = format('%s is a %s: it cannot become a %s', p_path, v_last.kind, p_kind),
      hint = 'Use another path.';
  end if;
  if v_last.content = p_content then
    return query select v_last.version, false;
    return;
  end if;
  insert into penstock.catalog (path, version, kind, content, source, registered_by)
  values (p_path, coalesce(v_last.version, 0) + 1, p_kind, p_content, p_source, v_actor);
  -- after it is there: a playbook may start itself
  perform penstock.catalog_refs_check(p_kind, p_content);
  if p_kind = 'Subscription' then
    perform penstock.subscription_registered(p_path, coalesce(v_last.version, 0) + 1, v_actor);
  else
    perform penstock.playbook_graph_write(p_path, coalesce(v_last.version, 0) + 1, p_content, p_graph);
    perform penstock.step_timeouts_check(p_path, coalesce(v_last.version, 0) + 1, p_content);
  end if;
  return query select coalesce(v_last.version, 0) + 1, true;
end
$$;
