-- Who may call what. Nobody writes tables: functions do. Re-applied by every migrate, after the functions and views.
-- What an earlier version granted and this one does not is taken back first.
do $$
declare
  v_grantees text := 'public, workflow_admin, dot_executor, penstock_producer, penstock_mot, penstock_pipeline, penstock_gateway, '
                     'penstock_reader';
begin
  execute 'revoke all on schema penstock from ' || v_grantees;
  execute 'revoke all on all tables in schema penstock from ' || v_grantees;
  execute 'revoke all on all sequences in schema penstock from ' || v_grantees;
  execute 'revoke all on all functions in schema penstock from ' || v_grantees;
end $$;
grant usage on schema penstock to workflow_admin, dot_executor, penstock_producer, penstock_mot, penstock_pipeline,
  penstock_gateway, penstock_reader;

-- Looking is for everybody with a role; jobs and events hold refs and safe scalars only.
grant select on penstock.job, penstock.v_job, penstock.v_queue_health, penstock.v_job_queue_backlog, penstock.v_execution_event,
  penstock.v_dead_letter, penstock.v_job_queue_dead_letter_open, penstock.v_executor_subscription_health, penstock.job_move,
  penstock.catalog, penstock.v_execution_step, penstock.v_job_awaiting,
  penstock.v_subscription, penstock.v_execution, penstock.v_ingest_position,
  penstock.v_subscription_event
  to workflow_admin, dot_executor, penstock_producer, penstock_mot, penstock_pipeline, penstock_gateway, penstock_reader;
-- views call it with the rights of whoever looks
grant execute on function penstock.backlog, penstock.fn_job_list, penstock.sql_route_state
  to workflow_admin, dot_executor, penstock_producer, penstock_mot, penstock_pipeline, penstock_gateway, penstock_reader;
grant select on penstock.schema_migration to public;
grant select on penstock.dot_config, penstock.pool, penstock.executor, penstock.job_subscription, penstock.schedule,
  penstock.event_domain, penstock.event_type_registry, penstock.event_outbox, penstock.queue_heartbeat, penstock.actor_binding,
  penstock.executor_grant, penstock.job_result, penstock.outbox_tick, penstock.event_cursor, penstock.consumer_registry,
  penstock.consumer_dispatch, penstock.v_consumer_registry_active, penstock.v_consumer_dispatch_recent,
  penstock.iu_sql_event_route, penstock.sql_event_route_note, penstock.v_sql_event_route_active, penstock.event_subscription,
  penstock.event_broadcast, penstock.v_subscription_broadcast_used, penstock.v_event_cursor, penstock.iu_outbound_route,
  penstock.iu_route_worker_cursor, penstock.iu_route_attempt, penstock.v_iu_route_worker_status, penstock.v_iu_route_attempt_recent,
  penstock.v_iu_route_dead_letter_open, penstock.playbook_step, penstock.playbook_arc, penstock.job_workflow, penstock.job_step,
  penstock.job_join, penstock.job_loop, penstock.iu_document, penstock.iu_composition, penstock.iu_axis, penstock.v_iu_document,
  penstock.v_api_token
  to workflow_admin, dot_executor, penstock_reader;

-- Producers ask for jobs and record facts.
grant execute on function penstock.fn_job_enqueue, penstock.fn_job_enqueue_many, penstock.fn_job_cancel, penstock.fn_iu_emit_event,
  penstock.fn_execute_batch, penstock.fn_mot_graph_emit, penstock.fn_sql_event_call, penstock.sql_call_statement, penstock.sql_call_done,
  penstock.array_text
  to penstock_producer, dot_executor, penstock_pipeline, penstock_gateway, workflow_admin;
-- MOT hands out work, and does nothing else. Who started an execution may move it, and who was asked may answer: the functions look.
grant execute on function penstock.fn_mot_graph_emit to penstock_mot;
grant execute on function penstock.fn_execution_move, penstock.fn_job_resume
  to penstock_producer, dot_executor, penstock_pipeline, penstock_gateway, workflow_admin;

-- Executors claim and report.
grant execute on function penstock.fn_job_claim, penstock.fn_job_start, penstock.fn_job_release, penstock.fn_job_finish,
  penstock.fn_job_fail, penstock.fn_job_heartbeat, penstock.fn_queue_heartbeat, penstock.fn_queue_farewell, penstock.fn_queue_tick,
  penstock.fn_queue_reap_stale_leases, penstock.fn_outbox_tick, penstock.fn_consumer_dispatch, penstock.fn_consumer_dispatch_run,
  penstock.fn_iu_route_worker_run, penstock.fn_iu_route_deliver, penstock.fn_iu_route_sent, penstock.fn_job_await, penstock.fn_job_child,
  penstock.fn_job_child_ended, penstock.fn_job_callback_key, penstock.fn_job_kept, penstock.fn_drain_take, penstock.fn_drain_done
  to dot_executor, workflow_admin;

-- Operators decide.
grant execute on function penstock.fn_job_retry, penstock.fn_job_dead_letter_replay, penstock.fn_dead_letter_replay,
  penstock.fn_dead_letter_resolve, penstock.fn_executor_register, penstock.fn_executor_deregister, penstock.fn_job_subscription_set,
  penstock.fn_executor_grant_set, penstock.fn_actor_binding_set, penstock.fn_pool_set, penstock.fn_config_set, penstock.fn_schedule_set,
  penstock.fn_schedule_drop, penstock.fn_event_domain_register, penstock.fn_event_type_register
  to workflow_admin;
grant execute on function penstock.fn_catalog_register, penstock.fn_subscription_move, penstock.fn_consumer_register,
  penstock.fn_consumer_set, penstock.fn_outbox_rebase, penstock.fn_sql_event_route_set, penstock.fn_sql_event_route_apply,
  penstock.fn_event_subscription_set, penstock.fn_outbound_route_set, penstock.fn_iu_route_worker_set,
  penstock.fn_iu_route_dead_letter_replay to workflow_admin;
grant execute on function penstock.fn_iu_core_routes_enabled, penstock.fn_iu_route_worker_enabled
  to workflow_admin, dot_executor, penstock_producer, penstock_mot, penstock_pipeline, penstock_gateway, penstock_reader;
-- a recipient sees its own inbox: the functions check for whom the caller may speak
grant execute on function penstock.fn_event_inbox, penstock.fn_event_mark_read
  to workflow_admin, dot_executor, penstock_producer, penstock_mot, penstock_pipeline, penstock_gateway, penstock_reader;
grant execute on function penstock.fn_event_recipients to workflow_admin, dot_executor, penstock_reader;

-- The pipeline stages and commits; it holds subscriptions, and moves none. The gateway does it for runtimes that hold a token.
grant execute on function penstock.fn_runtime_lease, penstock.fn_runtime_release, penstock.fn_runtime_said,
  penstock.fn_ingest_stage_open, penstock.fn_ingest_stage_clear, penstock.fn_ingest_commit, penstock.fn_ingest_position_set,
  penstock.fn_ingest_room, penstock.fn_ingest_stage_add, penstock.fn_ingest_stage_acks, penstock.fn_runtime_once,
  penstock.fn_ingest_stage_slice
  to penstock_pipeline, penstock_gateway, workflow_admin;
grant usage on sequence penstock.job_id_seq to penstock_pipeline;

-- Tokens of the API: operators hand them out, the gateway looks.
grant execute on function penstock.fn_token_create, penstock.fn_token_revoke to workflow_admin;
grant execute on function penstock.fn_token_check to penstock_gateway, workflow_admin;

-- MARK/CUT: whoever runs its stages, and the handlers of its events.
grant execute on function penstock.fn_staging_write, penstock.fn_mark_write, penstock.fn_mark_verified, penstock.fn_cut_write,
  penstock.fn_cut_verified, penstock.fn_staging_cleanup, penstock.fn_staging_expire, penstock.fn_staging_sweep,
  penstock.fn_piece_recompose, penstock.fn_piece_axis_refresh
  to dot_executor, workflow_admin;

-- Bodies, inputs and documents are data: for those who run them, and for operators.
grant select on penstock.ingest_message, penstock.execution_input, penstock.job_item, penstock.ingest_dead_letter,
  penstock.iu_staging_record, penstock.iu_staging_mark, penstock.iu_piece to dot_executor, workflow_admin;
