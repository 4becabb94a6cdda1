-- workflow_family: lock these executions, and those they started and wait for, and so on.
--   returns  their ids
--   locks    job_workflow rows by id
create or replace function penstock.workflow_family(p_execution_ids bigint[]) returns bigint[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_family bigint[];
begin
  with recursive family as (
    select x as execution_id from unnest(p_execution_ids) x
    union
    select w.execution_id from family f join penstock.job_workflow w on w.parent_execution = f.execution_id
     where w.parent_job is not null and w.finished_at is null)
  select array_agg(f.execution_id) into v_family from family f;
  perform from penstock.job_workflow w where w.execution_id = any (v_family) order by w.execution_id for update;
  return v_family;
end
$$;
