-- Who may call what. Nobody writes tables: functions do. Re-applied by every migrate, after the functions and views.
revoke all on schema penstock from public;
revoke all on all tables in schema penstock from public;
revoke all on all sequences in schema penstock from public;
revoke all on all functions in schema penstock from public;
grant usage on schema penstock to workflow_admin, dot_executor, penstock_producer, penstock_mot, penstock_pipeline,
  penstock_gateway, penstock_reader;

-- Everybody who works with jobs may look at them; the facts hold refs and safe scalars only.
grant select on penstock.job to dot_executor, workflow_admin, penstock_reader;

grant execute on function penstock.fn_job_enqueue, penstock.fn_job_enqueue_many
  to penstock_producer, dot_executor, penstock_mot, penstock_pipeline, penstock_gateway, workflow_admin;
grant execute on function penstock.fn_job_claim, penstock.fn_job_start, penstock.fn_job_release, penstock.fn_job_finish
  to dot_executor, workflow_admin;
grant execute on function penstock.fn_event_domain_register to workflow_admin;
