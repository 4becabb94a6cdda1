-- The whole schema as one dump. Generated, never edited: make schema rewrites it from the files beside it.

-- Name: penstock; Type: SCHEMA; Schema: -; Owner: -

CREATE SCHEMA penstock;

-- Name: actor_ref; Type: DOMAIN; Schema: penstock; Owner: -

CREATE DOMAIN penstock.actor_ref AS text COLLATE pg_catalog."C"
	CONSTRAINT actor_ref_check CHECK (((split_part(VALUE, ':'::text, 1) = ANY (ARRAY['role'::text, 'agency'::text, 'user'::text, 'agent'::text, 'consumer'::text, 'system'::text])) AND ((strpos(VALUE, ':'::text) >= 2) AND (strpos(VALUE, ':'::text) <= (length(VALUE) - 1))) AND (length(VALUE) <= 210) AND (VALUE !~ '[[:space:][:cntrl:]]'::text)));

-- Name: claim_run; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.claim_run AS (
	pool text,
	job_kind text,
	event_domain text,
	head_priority smallint,
	head_job_id bigint,
	rule bigint,
	priority_floor smallint,
	max_parallel integer,
	room integer
);

-- Name: executor_kind; Type: DOMAIN; Schema: penstock; Owner: -

CREATE DOMAIN penstock.executor_kind AS text COLLATE pg_catalog."C"
	CONSTRAINT executor_kind_check CHECK ((VALUE = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text])));

-- Name: consumer_plan; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.consumer_plan AS (
	job_id bigint,
	consumer_id text,
	dry_run boolean,
	fail_closed boolean,
	fault text,
	job_kind text,
	executor penstock.executor_kind,
	priority smallint,
	actor penstock.actor_ref,
	safe_payload jsonb,
	key text,
	payload_ref text,
	event_id uuid,
	event_domain text,
	subject_ref text,
	correlation_id text,
	trace text,
	depth smallint
);

-- Name: execution_parent; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.execution_parent AS (
	job_id bigint,
	execution_id bigint,
	actor text,
	depth smallint,
	waits boolean,
	causation_event_id uuid,
	causation_depth smallint
);

-- Name: ingest_verdict; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.ingest_verdict AS (
	job_id bigint,
	verdict text,
	reason text,
	execution_id bigint
);

-- Name: job_claim; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.job_claim AS (
	job_id bigint,
	lease_token bigint,
	job_kind text,
	attempt smallint,
	started boolean,
	suspect boolean,
	priority smallint,
	lease_until timestamp with time zone,
	enqueued_at timestamp with time zone
);

-- Name: job_request; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.job_request AS (
	ordinal integer,
	job_id bigint,
	kind text,
	idempotency_key text,
	executor text,
	source_ref text,
	target_ref text,
	payload_ref text,
	safe_payload jsonb,
	priority integer,
	process_after timestamp with time zone,
	correlation_id text,
	causation_event_id uuid,
	actor text,
	pool text,
	lane text,
	event_domain text,
	trace text,
	max_attempts integer,
	replay_of bigint,
	playbook_ref text,
	subscription text,
	causation_depth smallint
);

-- Name: job_status; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.job_status AS ENUM (
    'blocked',
    'scheduled',
    'ready',
    'leased',
    'running',
    'awaiting',
    'retrying',
    'succeeded',
    'dead_lettered',
    'cancelled'
);

-- Name: join_count; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.join_count AS (
	execution_id bigint,
	step_id bigint,
	arcs integer,
	via bigint[]
);

-- Name: piece_diff; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.piece_diff AS (
	staging_id bigint,
	document text,
	piece_id bigint,
	address text,
	"position" integer,
	first_byte integer,
	end_byte integer,
	sha256 bytea,
	is_added boolean,
	is_changed boolean,
	is_moved boolean,
	is_reordered boolean,
	is_deprecated boolean
);

-- Name: playbook_target; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.playbook_target AS (
	path text,
	ref text,
	job_kind text,
	executor penstock.executor_kind,
	pool text,
	lane text,
	max_attempts smallint,
	step_id bigint,
	step text,
	is_single boolean
);

-- Name: sql_route_context; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.sql_route_context AS (
	actor penstock.actor_ref,
	correlation_id text,
	causation_event_id uuid,
	causation_depth smallint,
	trace text,
	expires_at timestamp with time zone
);

-- Name: step_end; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.step_end AS (
	execution_id bigint,
	step_id bigint,
	visit smallint,
	item integer,
	job_id bigint,
	how text,
	next text[],
	items jsonb
);

-- Name: step_start; Type: TYPE; Schema: penstock; Owner: -

CREATE TYPE penstock.step_start AS (
	execution_id bigint,
	step_id bigint,
	visit smallint,
	item integer,
	job_id bigint,
	from_job bigint,
	via bigint[],
	hold text,
	value jsonb,
	process_after timestamp with time zone,
	is_again boolean
);

-- Name: actor_checked(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.actor_checked(p_actor text) RETURNS penstock.actor_ref
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_caller text := penstock.caller();
begin
  if not penstock.actor_is_wellformed(coalesce(p_actor, 'role:' || v_caller)) then
    raise exception using errcode = 'PS004', message = format('%L is not an actor', coalesce(p_actor, 'role:' || v_caller)),
      hint = 'An actor is role:, agency:, user: or agent: and a name without spaces.';
  end if;
  if p_actor is null or p_actor = 'role:' || v_caller then
    return 'role:' || v_caller;
  end if;
  if penstock.caller_is_operator() then
    return p_actor;
  end if;
  if p_actor ~ '^(consumer|system):' or not exists (
    select from penstock.actor_binding b
     where b.actor_ref = p_actor
       and pg_has_role(v_caller::name, (select oid from pg_roles where rolname = b.db_role), 'usage'))
     and not penstock.token_speaks(v_caller, p_actor)
  then
    raise exception using errcode = 'PS004', message = format('%s may not speak for %s', v_caller, p_actor),
      hint = case when p_actor ~ '^(consumer|system):' then 'Only functions of Penstock speak for consumer: and system:.'
        else penstock.role_advice((select min(b.db_role) from penstock.actor_binding b where b.actor_ref = p_actor),
                                  format('select penstock.fn_actor_binding_set(%L, %L)', p_actor, v_caller)) end;
  end if;
  return p_actor;
end
$$;

-- Name: actor_is_wellformed(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.actor_is_wellformed(p_actor text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN COALESCE(((split_part(p_actor, ':'::text, 1) = ANY (ARRAY['role'::text, 'agency'::text, 'user'::text, 'agent'::text, 'consumer'::text, 'system'::text])) AND ((strpos(p_actor, ':'::text) >= 2) AND (strpos(p_actor, ':'::text) <= (length(p_actor) - 1))) AND (length(p_actor) <= 210) AND ((p_actor COLLATE "C") !~ '[[:space:][:cntrl:]]'::text)), false);

-- Name: answer_by_hand_check(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.answer_by_hand_check(p_job_id bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_child penstock.job_workflow;
begin
  select * into v_child from penstock.job_workflow w where w.parent_job = p_job_id
   order by w.finished_at is not null, w.execution_id desc limit 1;
  if not found then
    return;
  end if;
  raise exception using errcode = 'PS009',
    message = format('job %s waits for execution %s of %s%s: nobody can answer in its place', p_job_id, v_child.execution_id,
      v_child.playbook_ref, case when v_child.finished_at is not null then ', which has ' || case v_child.status
        when 'cancelled' then 'been cancelled' else v_child.status collate "default" end else '' end),
    hint = case when v_child.finished_at is not null then 'A worker, or the next tick, tells it: penstock tick.'
      else format('It goes on when that one ends. penstock execution show %1$s says where it stands, penstock execution cancel %1$s '
                  'ends it.', v_child.execution_id) end;
end
$_$;

-- Name: arcs_followed(penstock.step_end[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.arcs_followed(p_ends penstock.step_end[]) RETURNS penstock.step_start[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_starts penstock.step_start[];
  v_counts penstock.join_count[];
begin
  with ended as materialized (
    select e.*, e.how = 'done' and e.next is null and exists (
             select from penstock.playbook_arc a where a.from_step = e.step_id and a.is_conditional) as is_open
      from unnest(p_ends) with ordinality e
  ), taken as materialized (
    select e.execution_id, e.ordinality, e.job_id, a.*
      from ended e
      join penstock.playbook_arc a on a.from_step = e.step_id
      join penstock.playbook_step t on t.step_id = a.to_step
     where not e.is_open
       and case e.how when 'done' then a.kind = 'next' and (e.next is null or t.step = any (e.next))
                      when 'failed' then a.kind = 'error' when 'late' then a.kind = 'late' else false end
  ), skipped as (
    select e.execution_id, a.skips, a.skip_counts
      from ended e
      join penstock.playbook_leaving l on l.step_id = e.step_id
      join penstock.playbook_arc a on a.arc_id = l.arc_id
     where not e.is_open
       and not exists (select from taken k where k.ordinality = e.ordinality and (k.is_inside or k.arc_id = a.arc_id))
  ), settled as (
    select k.execution_id, k.to_step, 1 as arcs, k.from_step as via from taken k where k.is_join
    union all
    select s.execution_id, u.step, u.count, null from skipped s cross join lateral unnest(s.skips, s.skip_counts) u(step, count)
  )
  select array(
           select row(e.execution_id, e.step_id, e.visit, -1, null, e.job_id, null, null, null, null, false)::penstock.step_start
             from ended e where e.is_open order by e.ordinality)
         || array(
           select row(k.execution_id, k.to_step,
                      case when k.is_inside then (select coalesce(max(j.visit), 0) + 1 from penstock.job_step j
                                                   where j.execution_id = k.execution_id and j.step_id = k.to_step) else 1 end,
                      0, null, k.job_id, array[k.from_step], null, null, null, false)::penstock.step_start
             from taken k where not k.is_join order by k.ordinality, k.ordinal),
         array(
           select row(s.execution_id, s.to_step, sum(s.arcs),
                      coalesce(array_agg(s.via) filter (where s.via is not null), '{}'))::penstock.join_count
             from settled s group by s.execution_id, s.to_step)
    into v_starts, v_counts;
  return v_starts || penstock.joins_settled(v_counts);
end
$$;

-- Name: array_text(jsonb, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.array_text(p_array jsonb, p_of_json boolean) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if jsonb_typeof(p_array) is distinct from 'array' then
    return p_array #>> '{}';
  elsif p_of_json then
    return (select coalesce(array_agg(e::text order by o), '{}')::text from jsonb_array_elements(p_array) with ordinality x(e, o));
  elsif jsonb_typeof(p_array -> 0) = 'array' then
    return (select '{' || string_agg(penstock.array_text(e, false), ',' order by o) || '}'
              from jsonb_array_elements(p_array) with ordinality x(e, o));
  end if;
  return (select coalesce(array_agg(e order by o), '{}')::text from jsonb_array_elements_text(p_array) with ordinality x(e, o));
end
$$;

-- Name: attempts_failed(bigint[], bigint[], jsonb[], text, bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.attempts_failed(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[], p_reason text, p_rules bigint[]) RETURNS TABLE(ordinal bigint, next_status penstock.job_status)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
#variable_conflict use_column
declare
  v_ordinals bigint[];
  v_held bigint[];
  v_errors jsonb[];
  v_dead bigint[];
begin
  perform penstock.workflows_locked(p_job_ids);
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  select array_agg(h.ordinality), array_agg(h.job_id), array_agg(penstock.error_bounded(h.error)),
         array_agg(h.job_id) filter (where h.attempt >= h.max_attempts or h.error @> '{"permanent": true}')
    into v_ordinals, v_held, v_errors, v_dead
    from (select q.job_id, q.attempt, x.ordinality, x.error,
                 coalesce(q.max_attempts, penstock.config_for_kind('queue.retry.max_attempts', q.job_kind, 5)) as max_attempts
            from penstock.job_queue q
            join (select distinct on (u.job_id, u.token) u.*
                    from unnest(p_job_ids, p_tokens, p_errors) with ordinality u(job_id, token, error, ordinality)
                   order by u.job_id, u.token, u.ordinality) x on x.job_id = q.job_id and x.token = q.lease_token
           where q.job_id = any (p_job_ids) and q.status in ('leased', 'running') and not q.cancel_requested
             and (p_rules is null or q.rule = any (p_rules))
           order by q.job_id for update of q) h;
  insert into penstock.job_outcome (
    job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason, error)
  select q.job_id, clock_timestamp(), q.lease_token, q.enqueued_at, q.started_at, q.leased_by, q.attempt,
         case when q.job_id = any (v_dead) then 'dead_lettered'::penstock.job_status else 'retrying' end, p_reason, x.error
    from penstock.job_queue q join unnest(v_held, v_errors) x(job_id, error) on x.job_id = q.job_id
   where q.job_id = any (v_held);
  update penstock.job_queue q
     set status = 'retrying', process_after = clock_timestamp() + penstock.retry_delay_ms(q.attempt, q.step_id) * interval '1 millisecond',
         reaped = q.reaped + (p_reason = 'lease_expired')::integer,
         lease_token = null, lease_until = null, leased_by = null, started_at = null, rule = null
   where q.job_id = any (v_held) and (v_dead is null or q.job_id <> all (v_dead));
  perform penstock.steps_hold(v_held);
  if v_dead is not null then
    perform penstock.jobs_bury(v_dead, p_reason);
  end if;
  return query select h.ordinal, case when h.job_id = any (v_dead) then 'dead_lettered'::penstock.job_status else 'retrying' end
                 from unnest(v_ordinals, v_held) h(ordinal, job_id);
end
$$;

-- Name: awaiting_done(bigint[], jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.awaiting_done(p_job_ids bigint[], p_result jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_lanes text[];
  v_ends penstock.step_end[];
begin
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with gone as (
    delete from penstock.job_queue q where q.job_id = any (p_job_ids) returning q.*
  ), unasked as (
    delete from penstock.job_await a where a.job_id = any (p_job_ids)
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status)
    select g.job_id, clock_timestamp(), g.lease_token, g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'succeeded' from gone g
  ), answered as (
    insert into penstock.job_result (job_id, result) select g.job_id, p_result from gone g where p_result is not null
  )
  select array_agg(g.lane) filter (where g.lane is not null),
         array_agg(row(g.execution_id, g.step_id, g.visit, g.item, g.job_id, 'done', null, null)::penstock.step_end order by g.job_id)
           filter (where g.execution_id is not null)
    into v_lanes, v_ends from gone g;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if v_ends is not null then
    perform penstock.steps_end(v_ends);
  end if;
end
$$;

-- Name: awaiting_due(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.awaiting_due(p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_now timestamptz := clock_timestamp();
  v_due bigint[] := array(select q.job_id from penstock.job_queue q where q.status = 'awaiting' and q.process_after <= v_now
                           order by q.process_after limit p_limit);
  v_wanted bigint[];
  v_free bigint[];
  v_resumed bigint[];
  v_expired bigint[];
begin
  if v_due = '{}' then
    return 0;
  end if;
  v_wanted := array(select distinct q.execution_id from penstock.job_queue q where q.job_id = any (v_due) and q.execution_id is not null);
  v_free := array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                   order by w.execution_id for update skip locked);
  select array_agg(d.job_id) filter (where d.on_due = 'resume'), array_agg(d.job_id) filter (where d.on_due = 'expire')
    into v_resumed, v_expired
    from (select q.job_id, a.on_due from penstock.job_queue q join penstock.job_await a on a.job_id = q.job_id
           where q.job_id = any (v_due) and q.status = 'awaiting' and q.process_after <= v_now
             and (q.execution_id is null or q.execution_id = any (v_free))
           order by q.job_id for update of q skip locked) d;
  if v_resumed is not null then
    perform penstock.awaiting_done(v_resumed, null);
  end if;
  if v_expired is not null then
    perform penstock.awaiting_failed(v_expired, 'deadline', '{"type": "Deadline", "message": "nobody answered in time"}');
  end if;
  return coalesce(cardinality(v_resumed), 0) + coalesce(cardinality(v_expired), 0);
end
$$;

-- Name: awaiting_failed(bigint[], text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.awaiting_failed(p_job_ids bigint[], p_reason text, p_error jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  delete from penstock.job_await a where a.job_id = any (p_job_ids);
  insert into penstock.job_outcome (
    job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason, error)
  select q.job_id, clock_timestamp(), q.lease_token, q.enqueued_at, q.started_at, q.leased_by, q.attempt, 'dead_lettered', p_reason, p_error
    from penstock.job_queue q where q.job_id = any (p_job_ids);
  perform penstock.jobs_bury(p_job_ids, p_reason);
end
$$;

-- Name: backlog(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.backlog() RETURNS TABLE(executor text, pool text, job_kind text, event_domain text, ready integer, oldest_enqueued_at timestamp with time zone, reason text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with recursive head as (
    (select q.executor, q.pool, q.job_kind, q.event_domain, q.priority from penstock.job_queue q where q.status = 'ready'
      order by q.executor, q.pool, q.job_kind, q.event_domain, q.priority desc, q.job_id limit 1)
    union all
    select n.* from head h cross join lateral (
      select q.executor, q.pool, q.job_kind, q.event_domain, q.priority from penstock.job_queue q
       where q.status = 'ready' and (q.executor, q.pool, q.job_kind, q.event_domain) > (h.executor, h.pool, h.job_kind, h.event_domain)
       order by q.executor, q.pool, q.job_kind, q.event_domain, q.priority desc, q.job_id limit 1) n
  )
  select h.executor, h.pool, h.job_kind, nullif(h.event_domain, ''), c.ready, c.oldest,
         penstock.backlog_reason(h.executor, h.pool, h.job_kind, h.event_domain, h.priority)
    from (select * from head limit 1000) h
   cross join lateral (
     select count(*)::integer as ready, min(l.enqueued_at) as oldest
       from (select q.enqueued_at from penstock.job_queue q
              where q.status = 'ready' and q.executor = h.executor and q.pool = h.pool and q.job_kind = h.job_kind
                and q.event_domain = h.event_domain
              order by q.priority desc, q.job_id limit 10001) l) c
$$;

-- Name: backlog_reason(text, text, text, text, smallint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.backlog_reason(p_executor text, p_pool text, p_job_kind text, p_event_domain text, p_priority smallint) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with taker as (
    select e.executor_id, s.priority_floor from penstock.executor e
     cross join lateral (
       select r.enabled, r.priority_floor from penstock.job_subscription r
        where r.executor_id = e.executor_id and (r.job_kind is null or r.job_kind = p_job_kind)
          and (r.event_domain is null or r.event_domain = p_event_domain)
        order by r.job_kind is null, r.event_domain is null limit 1) s
     where e.executor_kind = p_executor and e.deregistered_at is null and s.enabled)
  select case
    when not exists (select from penstock.executor e where e.executor_kind = p_executor and e.deregistered_at is null)
      then format('no executor of kind %s is registered', p_executor)
    when not exists (select from taker) then 'no enabled job subscription takes it'
    when p_priority < all (select t.priority_floor from taker t)
      then format('its priority %s is below the floor of every job subscription that takes it', p_priority)
    when not exists (select from taker t join penstock.queue_heartbeat h on h.executor_id = t.executor_id and h.silent_since is null
                      where (h.kinds is null or p_job_kind = any (h.kinds)) and (h.pools is null or p_pool = any (h.pools)))
      then 'no living worker serves it'
  end
$$;

-- Name: bodies_are_json(text, text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.bodies_are_json(p_stage text, p_attempts text[]) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_count bigint;
begin
  execute format($sql$select count(convert_from(s.body, 'UTF8')::jsonb) from penstock.%I s where s.attempt = any ($1)$sql$, p_stage)
    into v_count using p_attempts;
  return true;
exception
  when invalid_text_representation or character_not_in_repertoire or untranslatable_character or statement_too_complex
    or program_limit_exceeded or numeric_value_out_of_range then
    return false;
end
$_$;

-- Name: broadcasts_count(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.broadcasts_count(p_limit integer DEFAULT 5000) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_cursor penstock.event_cursor := penstock.cursor_taken('broadcasts');
  v_events penstock.event_outbox[];
begin
  if v_cursor.goal_tick_id is null then
    return 0;
  end if;
  v_events := penstock.cursor_page(v_cursor, p_limit);
  -- what no rule looks at makes no difference: of many alike one is asked for
  with alike as materialized (
    select date_trunc('hour', e.created_at) as hour, e.event_domain, e.event_type, e.event_stream, e.subject_table,
           case when f.event_domain is not null then e.payload end as payload, count(*) as events
      from unnest(v_events) e
      left join (select distinct s.event_domain from penstock.event_subscription s where s.scope_filter <> '{}') f using (event_domain)
     group by 1, 2, 3, 4, 5, 6)
  insert into penstock.event_broadcast as b (hour, event_domain, event_type, events, broadcast)
  select a.hour, a.event_domain, a.event_type, sum(a.events),
         coalesce(sum(a.events) filter (where not exists (
           select from penstock.event_recipients(row(null, a.hour, null, null, a.event_domain, a.event_type, a.event_stream,
             a.subject_table, null, a.payload, null, null, null, null, null)::penstock.event_outbox) r
            where r.rule <> 'broadcast')), 0)
    from alike a group by 1, 2, 3 order by 1, 2, 3
  on conflict (hour, event_domain, event_type) do update
    set events = b.events + excluded.events, broadcast = b.broadcast + excluded.broadcast;
  perform penstock.cursor_moved(v_cursor, v_events, p_limit);
  perform penstock.broadcasts_warn();
  return cardinality(v_events);
end
$$;

-- Name: broadcasts_warn(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.broadcasts_warn() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_type record;
begin
  for v_type in
    select b.event_domain, b.event_type, b.broadcast_events_24h, b.events_24h from penstock.v_subscription_broadcast_used b
     where b.broadcast_events_24h > 0.05 * b.events_24h
       and not (b.event_domain = 'system' and b.event_type = 'subscription_broadcast')
       -- where nobody reads events, and where all are broadcasts on purpose, it says nothing
       and exists (select from penstock.event_subscription s where not s.mute)
       and penstock.config_text('queue.subscription_resolution.enabled', 'true') = 'true'
  loop
    perform penstock.system_event_once('subscription_broadcast', 'event_type', v_type.event_domain || '.' || v_type.event_type,
      jsonb_build_object('broadcast_events_24h', v_type.broadcast_events_24h, 'events_24h', v_type.events_24h),
      format('%s.%s:%s', v_type.event_domain, v_type.event_type, (now() at time zone 'UTC')::date));
  end loop;
end
$$;

-- Name: bytes_are_json(bytea); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.bytes_are_json(p_body bytea) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform convert_from(p_body, 'UTF8')::jsonb;
  return true;
exception
  when invalid_text_representation or character_not_in_repertoire or untranslatable_character or statement_too_complex
    or program_limit_exceeded or numeric_value_out_of_range then
    return false;
end
$$;

-- Name: caller(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.caller() RETURNS text
    LANGUAGE sql STABLE
    RETURN CASE current_setting('role'::text) WHEN 'none'::text THEN (SESSION_USER)::text ELSE current_setting('role'::text) END;

-- Name: caller_is_operator(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.caller_is_operator() RETURNS boolean
    LANGUAGE sql STABLE
    RETURN pg_has_role((penstock.caller())::name, 'workflow_admin'::name, 'usage'::text);

-- Name: caller_rules(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.caller_rules() RETURNS bigint[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when not penstock.caller_is_operator() then array(
    select s.subscription_id from penstock.job_subscription s
      join penstock.actor_binding b on b.actor_ref = 'agent:' || s.executor_id
      join pg_roles r on r.rolname = b.db_role
     where pg_has_role(penstock.caller()::name, r.oid, 'usage')) end
$$;

-- Name: cancelled_settle(bigint[], bigint[], bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cancelled_settle(p_job_ids bigint[], p_tokens bigint[], p_rules bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_lanes text[];
  v_ends penstock.step_end[];
  v_wanted bigint[] := array(select distinct q.execution_id from penstock.job_queue q
                              where q.job_id = any (p_job_ids) and q.cancel_requested and q.execution_id is not null);
  v_free bigint[] := array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                            order by w.execution_id for update skip locked);
begin
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with held as materialized (
    select q.job_id
      from penstock.job_queue q join unnest(p_job_ids, p_tokens) x(job_id, token) on x.job_id = q.job_id and x.token = q.lease_token
     where q.job_id = any (p_job_ids) and q.cancel_requested and q.status in ('leased', 'running')
       and (p_rules is null or q.rule = any (p_rules)) and (q.execution_id is null or q.execution_id = any (v_free))
     order by q.job_id for update of q
  ), gone as (
    delete from penstock.job_queue q using held h where q.job_id = any (p_job_ids) and q.job_id = h.job_id
    returning q.*
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
    select g.job_id, clock_timestamp(), g.lease_token, g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'cancelled', 'cancelled'
      from gone g
  )
  select array_agg(g.lane) filter (where g.lane is not null),
         array_agg(row(g.execution_id, g.step_id, g.visit, g.item, g.job_id, case when w.status = 'cancelling' then 'gone' else 'stuck' end,
                       null, null)::penstock.step_end) filter (where g.execution_id is not null)
    into v_lanes, v_ends
    from gone g left join penstock.job_workflow w on w.execution_id = g.execution_id;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if v_ends is not null then
    perform penstock.steps_end(v_ends);
  end if;
end
$$;

-- Name: catalog_playbooks(text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.catalog_playbooks(p_kind text, p_content jsonb) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select p_content #>> '{spec,dispatch,playbook}' where p_kind = 'Subscription'
  union
  select jsonb_array_elements_text(d -> 'allowed')
    from jsonb_array_elements(coalesce(p_content #> '{spec,headers,directives}', '[]')) d
   where p_kind = 'Subscription' and d ->> 'controls' = 'dispatch.playbook'
  union
  select t ->> 'path'
    from jsonb_array_elements(case when p_kind = 'Playbook' then p_content -> 'workflow' else '[]' end) s
   cross join lateral jsonb_array_elements(
     case jsonb_typeof(s -> 'tool') when 'array' then s -> 'tool' else jsonb_build_array(s -> 'tool') end) t
   where t ->> 'kind' = 'playbook'
$$;

-- Name: catalog_pools(text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.catalog_pools(p_kind text, p_content jsonb) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select p_content #>> '{spec,dispatch,execution_pool}' where p_content #> '{spec,dispatch,execution_pool}' is not null
  union
  select jsonb_array_elements_text(d -> 'allowed')
    from jsonb_array_elements(coalesce(p_content #> '{spec,headers,directives}', '[]')) d
   where d ->> 'controls' = 'dispatch.execution_pool'
  union
  select m.value
    from jsonb_array_elements(coalesce(p_content #> '{spec,headers,directives}', '[]')) d, jsonb_each_text(d -> 'map') m
   where d ->> 'controls' = 'priority'
  union
  select s ->> 'pool' from jsonb_array_elements(coalesce(p_content -> 'workflow', '[]')) s where s ? 'pool'
$$;

-- Name: catalog_refs_check(text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.catalog_refs_check(p_kind text, p_content jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_missing text;
begin
  select min(r.playbook) into v_missing
    from penstock.catalog_playbooks(p_kind, p_content) r(playbook)
   where not exists (select from penstock.catalog c where c.path = r.playbook and c.kind = 'Playbook');
  if v_missing is not null then
    raise exception using errcode = 'PS016', message = format('the playbook %s is not in the catalog', v_missing),
      detail = v_missing,
      hint = 'Register it first, or in the same file: penstock catalog register FILE';
  end if;
  select min(r.pool) into v_missing
    from penstock.catalog_pools(p_kind, p_content) r(pool)
   where not exists (select from penstock.pool p where p.pool = r.pool);
  if v_missing is not null then
    raise exception using errcode = 'PS003', message = format('the pool %s does not exist', v_missing),
      detail = v_missing,
      hint = format('Make it: penstock pool set %s', v_missing);
  end if;
end
$$;

-- Name: causation_depth(uuid); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.causation_depth(p_event_id uuid) RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_depth integer := 0;
  v_max integer := penstock.config_text('queue.causation.max_depth', '32')::integer;
begin
  if p_event_id is not null then
    select e.causation_depth + 1 into v_depth from penstock.event_outbox e where e.event_id = p_event_id;
  end if;
  if v_depth > v_max then
    raise exception using errcode = 'PS011', message = format('event %s already stands at the end of %s causes', p_event_id, v_max),
      hint = 'Something causes itself. The limit is queue.causation.max_depth.';
  end if;
  return coalesce(v_depth, 1);
end
$$;

-- Name: claim_has_below(text, penstock.claim_run[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_has_below(p_executor_kind text, p_runs penstock.claim_run[]) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return exists (
    select from unnest(p_runs) r
     cross join lateral (
       select from penstock.job_queue q
        where q.status = 'ready' and q.executor = p_executor_kind and q.pool = r.pool and q.job_kind = r.job_kind
          and q.event_domain = r.event_domain and q.priority < p_runs[1].head_priority and q.priority >= r.priority_floor
        order by q.priority desc, q.job_id limit 1) q);
end
$$;

-- Name: claim_lock(text, penstock.claim_run[], integer, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_lock(p_executor_kind text, p_runs penstock.claim_run[], p_limit integer, p_suspects boolean, OUT jobs bigint[], OUT runs integer[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_runs penstock.claim_run[] := p_runs;
  v_query text;
  v_jobs bigint[];
  v_picks integer[];
begin
  jobs := '{}';
  runs := '{}';
  for v_below in 0..1 loop
    v_query := penstock.claim_query(p_executor_kind, v_runs, p_limit - cardinality(jobs), p_suspects, v_below = 1);
    continue when v_query is null;
    execute format('select array_agg(p.job_id), array_agg(p.run) from (%s) p', v_query) into v_jobs, v_picks;
    jobs := jobs || v_jobs;
    runs := runs || v_picks;
    exit when cardinality(jobs) >= p_limit or not penstock.claim_has_below(p_executor_kind, p_runs);
    v_runs := penstock.claim_rooms_left(p_runs, runs);
  end loop;
end
$$;

-- Name: claim_mark(bigint[], bigint, bigint, bigint, bigint, uuid, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_mark(p_jobs bigint[], p_token bigint, p_rule bigint, p_lease_ms bigint, p_max_attempts bigint, p_incarnation uuid, p_start boolean) RETURNS penstock.job_claim[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_claims penstock.job_claim[];
begin
  with marked as (
    update penstock.job_queue q
       set status = case when p_start and q.reaped = 0 and q.attempt + 1 < coalesce(q.max_attempts, p_max_attempts)
                         then 'running'::penstock.job_status else 'leased' end,
           started_at = case when p_start and q.reaped = 0 and q.attempt + 1 < coalesce(q.max_attempts, p_max_attempts)
                             then clock_timestamp() end,
           attempt = q.attempt + 1, lease_token = p_token, leased_by = p_incarnation, rule = p_rule,
           lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
     where q.job_id = any (p_jobs)
    returning q.job_id, q.lease_token, q.job_kind, q.attempt, q.status = 'running', q.reaped > 0, q.priority, q.lease_until,
              q.enqueued_at)
  select array_agg(m::penstock.job_claim) into v_claims from marked m;
  return v_claims;
end
$$;

-- Name: executor; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.executor (
    executor_id text NOT NULL COLLATE pg_catalog."C",
    executor_kind penstock.executor_kind NOT NULL,
    registered_by penstock.actor_ref NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    deregistered_at timestamp with time zone,
    CONSTRAINT executor_executor_id_check CHECK ((executor_id ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'::text))
);

-- Name: claim_pass(penstock.executor, integer, text[], text[], uuid, boolean, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_pass(p_executor penstock.executor, p_limit integer, p_kinds text[], p_pools text[], p_incarnation uuid, p_start boolean, p_suspects boolean) RETURNS penstock.job_claim[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_runs penstock.claim_run[] := penstock.claim_runs(p_executor, p_kinds, p_pools);
begin
  if cardinality(v_runs) > 1 or v_runs[1].max_parallel is not null then
    -- cut to 65 only after the full ones are gone: they would hide the others
    v_runs := (penstock.claim_rooms(v_runs))[1:65];
  end if;
  return case cardinality(v_runs)
    when 0 then '{}'
    when 1 then penstock.claim_run_take(p_executor.executor_kind, v_runs[1], p_limit, p_incarnation, p_start, p_suspects)
    else penstock.claim_take(p_executor, v_runs, p_limit, p_incarnation, p_start, p_suspects) end;
end
$$;

-- Name: claim_query(text, penstock.claim_run[], integer, boolean, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_query(p_executor_kind text, p_runs penstock.claim_run[], p_limit integer, p_suspects boolean, p_below boolean) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  with term as (
    select p_runs[1].head_priority as top, p_runs[65] as bound
  ), branch as (
    select r.rule, r.room, format(
      'select %s as run, q.job_id, q.priority from penstock.job_queue q where q.status = ''ready'' and q.executor = %L '
      'and q.pool = %L and q.job_kind = %L and q.event_domain = %L and %s%s order by q.priority desc, q.job_id limit %s',
      r.ordinality, p_executor_kind, r.pool, r.job_kind, r.event_domain,
      case when p_below then format('q.priority < %s and q.priority >= %s', t.top, r.priority_floor)
           -- not '=': the planner would drop priority from the order, and read the primary key instead
           else format('q.priority <= %1$s and q.priority >= %1$s and q.job_id >= %2$s', t.top, r.head_job_id) end,
      case when p_suspects then '' else ' and q.reaped = 0' end, coalesce(r.room, p_limit * 8)) as query
      from term t, unnest(p_runs) with ordinality r
     where r.ordinality <= 64 and case when p_below then t.top > r.priority_floor else r.head_priority = t.top end
  ), ruled as (
    select case when room is null then string_agg('(' || query || ')', ' union all ')
                else format('(select * from (%s) r order by priority desc, job_id limit %s)',
                            string_agg('(' || query || ')', ' union all '), room) end as query
      from branch group by rule, room
  )
  select case (select count(*) from branch) when 0 then null when 1
    then (select format('select b.job_id, b.run from (%s for update skip locked) b limit %s', b.query, p_limit) from branch b)
    else (select format(
      'select l.job_id, c.run from (select * from (%s) u %s order by priority desc, job_id limit %s) c '
      'cross join lateral (select q.job_id from penstock.job_queue q '
      'where q.job_id = c.job_id and q.status = ''ready'' for update skip locked) l limit %s',
      string_agg(r.query, ' union all '),
      case when p_below and (t.bound).head_job_id is not null
           then format('where priority > %1$s or (priority = %1$s and job_id < %2$s)', (t.bound).head_priority, (t.bound).head_job_id)
           when (t.bound).head_priority = t.top then format('where job_id < %s', (t.bound).head_job_id) else '' end,
      p_limit * 8, p_limit) from ruled r) end
    from term t
$_$;

-- Name: claim_rooms(penstock.claim_run[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_rooms(p_runs penstock.claim_run[]) RETURNS penstock.claim_run[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if not exists (select from unnest(p_runs) r where r.max_parallel is not null) then
    return p_runs;
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'PS011', message = 'a rule with max_parallel is claimed under in READ COMMITTED only',
      hint = 'Claim in a transaction of its own, at the isolation level READ COMMITTED.';
  end if;
  perform from penstock.job_subscription s
    where s.subscription_id in (select r.rule from unnest(p_runs) r where r.max_parallel is not null)
    order by s.subscription_id for no key update;
  return array(
    select row(r.pool, r.job_kind, r.event_domain, r.head_priority, r.head_job_id, r.rule, s.priority_floor,
               s.max_parallel, s.room)::penstock.claim_run
      from unnest(p_runs) with ordinality r
      join (select s.subscription_id, s.priority_floor, s.max_parallel,
                   s.max_parallel - (select count(*) from penstock.job_queue q
                                      where q.rule = s.subscription_id and q.status in ('leased', 'running'))::integer as room
              from penstock.job_subscription s
             where s.enabled and s.subscription_id in (select r.rule from unnest(p_runs) r)) s
        on s.subscription_id = r.rule
     where s.room is null or s.room > 0
     order by r.ordinality);
end
$$;

-- Name: claim_rooms_left(penstock.claim_run[], integer[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_rooms_left(p_runs penstock.claim_run[], p_picks integer[]) RETURNS penstock.claim_run[]
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with picked as (
    select r.rule, count(*)::integer as jobs
      from unnest(p_picks) p(run) join unnest(p_runs) with ordinality r on r.ordinality = p.run group by r.rule)
  select case when exists (select from unnest(p_runs) r where r.room is not null) then array(
    select row(r.pool, r.job_kind, r.event_domain, r.head_priority, r.head_job_id, r.rule, r.priority_floor, r.max_parallel,
               r.room - coalesce(p.jobs, 0))::penstock.claim_run
      from unnest(p_runs) with ordinality r left join picked p on p.rule = r.rule order by r.ordinality) else p_runs end
$$;

-- Name: claim_run_mark(text, penstock.claim_run, integer, integer, bigint, integer, bigint, bigint, uuid, boolean, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_run_mark(p_executor_kind text, p_run penstock.claim_run, p_top integer, p_floor integer, p_from bigint, p_limit integer, p_lease_ms bigint, p_max_attempts bigint, p_incarnation uuid, p_start boolean, p_suspects boolean) RETURNS penstock.job_claim[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_claims penstock.job_claim[];
begin
  with marked as (
    update penstock.job_queue q
       set status = case when p_start and q.reaped = 0 and q.attempt + 1 < coalesce(q.max_attempts, p_max_attempts)
                         then 'running'::penstock.job_status else 'leased' end,
           started_at = case when p_start and q.reaped = 0 and q.attempt + 1 < coalesce(q.max_attempts, p_max_attempts)
                             then clock_timestamp() end,
           attempt = q.attempt + 1, leased_by = p_incarnation, rule = p_run.rule,
           -- drawn once, with the first row, when all are locked: so a job's later claim always has the higher token
           lease_token = (select nextval('penstock.lease_token_seq')),
           lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
     where q.job_id = any (array(
       select r.job_id from penstock.job_queue r
        where r.status = 'ready' and r.executor = p_executor_kind and r.pool = p_run.pool and r.job_kind = p_run.job_kind
          and r.event_domain = p_run.event_domain and r.priority <= p_top and r.priority >= p_floor and r.job_id >= p_from
          and (p_suspects or r.reaped = 0)
        order by r.priority desc, r.job_id limit p_limit for update skip locked))
    returning q.job_id, q.lease_token, q.job_kind, q.attempt, q.status = 'running', q.reaped > 0, q.priority, q.lease_until,
              q.enqueued_at)
  select array_agg(m::penstock.job_claim) into v_claims from marked m;
  return coalesce(v_claims, '{}');
end
$$;

-- Name: claim_run_take(text, penstock.claim_run, integer, uuid, boolean, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_run_take(p_executor_kind text, p_run penstock.claim_run, p_limit integer, p_incarnation uuid, p_start boolean, p_suspects boolean) RETURNS penstock.job_claim[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lease_ms bigint := penstock.config_for_kind('queue.lease_ms', p_run.job_kind, 60000);
  v_max_attempts bigint := penstock.config_for_kind('queue.retry.max_attempts', p_run.job_kind, 5);
  v_limit integer := least(p_limit, p_run.room);
  v_claims penstock.job_claim[];
begin
  v_claims := penstock.claim_run_mark(
    p_executor_kind, p_run, p_run.head_priority, p_run.head_priority, p_run.head_job_id, v_limit, v_lease_ms, v_max_attempts,
    p_incarnation, p_start, p_suspects);
  if cardinality(v_claims) < v_limit and penstock.claim_has_below(p_executor_kind, array[p_run]) then
    v_claims := v_claims || penstock.claim_run_mark(
      p_executor_kind, p_run, p_run.head_priority - 1, p_run.priority_floor, 0, v_limit - cardinality(v_claims), v_lease_ms,
      v_max_attempts, p_incarnation, p_start, p_suspects);
  end if;
  return v_claims;
end
$$;

-- Name: claim_runs(penstock.executor, text[], text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_runs(p_executor penstock.executor, p_kinds text[], p_pools text[]) RETURNS penstock.claim_run[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return array(
  with recursive head as (
    (select q.pool, q.job_kind, q.event_domain, q.priority, q.job_id
       from penstock.job_queue q
      where q.status = 'ready' and q.executor = p_executor.executor_kind
      order by q.pool, q.job_kind, q.event_domain, q.priority desc, q.job_id limit 1)
    union all
    select n.* from head h
     cross join lateral (
       select case when h.pool <> all (p_pools) then (select min(p collate "C") from unnest(p_pools) p where p collate "C" > h.pool) end,
              case when h.job_kind <> all (p_kinds) then (select min(k collate "C") from unnest(p_kinds) k
                                                           where k collate "C" > h.job_kind) end) w(pool, job_kind)
     -- where to look on; E'\x01' makes of a text the next one there can be
     cross join lateral (values (
       case when h.pool <> all (p_pools) then w.pool
            when h.job_kind <> all (p_kinds) and w.job_kind is null then h.pool || E'\x01' else h.pool end,
       case when h.pool <> all (p_pools) then '' when h.job_kind <> all (p_kinds) then coalesce(w.job_kind, '') else h.job_kind end,
       case when h.pool <> all (p_pools) or h.job_kind <> all (p_kinds) then '' else h.event_domain || E'\x01' end
     )) f(pool, job_kind, event_domain)
     cross join lateral (
       select q.pool, q.job_kind, q.event_domain, q.priority, q.job_id
         from penstock.job_queue q
        where q.status = 'ready' and q.executor = p_executor.executor_kind
          and (q.pool, q.job_kind, q.event_domain) >= (f.pool, f.job_kind, f.event_domain)
        order by q.pool, q.job_kind, q.event_domain, q.priority desc, q.job_id limit 1) n
  )
  select row(h.pool, h.job_kind, h.event_domain, h.priority, h.job_id,
             s.subscription_id, s.priority_floor, s.max_parallel, null)::penstock.claim_run
    from head h
   cross join lateral (
     select * from penstock.job_subscription r
      where r.executor_id = p_executor.executor_id
        and (r.job_kind is null or r.job_kind = h.job_kind)
        and (r.event_domain is null or r.event_domain = h.event_domain)
      order by r.job_kind is null, r.event_domain is null limit 1) s
   where s.enabled and h.priority >= s.priority_floor
     and (p_kinds is null or h.job_kind = any (p_kinds))
     and (p_pools is null or h.pool = any (p_pools))
   order by h.priority desc, h.job_id);
end
$$;

-- Name: claim_take(penstock.executor, penstock.claim_run[], integer, uuid, boolean, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.claim_take(p_executor penstock.executor, p_runs penstock.claim_run[], p_limit integer, p_incarnation uuid, p_start boolean, p_suspects boolean) RETURNS penstock.job_claim[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_rule bigint;
  v_jobs bigint[];
  v_picks integer[];
  v_token bigint;
  v_lease_ms bigint;
  v_max_attempts bigint;
  v_claims penstock.job_claim[] := '{}';
begin
  select l.jobs, l.runs into v_jobs, v_picks from penstock.claim_lock(p_executor.executor_kind, p_runs, p_limit, p_suspects) l;
  if coalesce(cardinality(v_jobs), 0) = 0 then
    return v_claims;
  end if;
  -- after the rows are locked: so a job's later claim always has the higher token
  v_token := nextval('penstock.lease_token_seq');
  for v_rule, v_lease_ms, v_max_attempts, v_jobs in
    with term as materialized (
      select r.ordinality, r.rule, penstock.config_for_kind('queue.lease_ms', r.job_kind, 60000) as lease_ms,
             penstock.config_for_kind('queue.retry.max_attempts', r.job_kind, 5) as max_attempts
        from unnest(p_runs) with ordinality r)
    select t.rule, t.lease_ms, t.max_attempts, array_agg(p.job_id)
      from unnest(v_jobs, v_picks) p(job_id, run) join term t on t.ordinality = p.run
     group by t.rule, t.lease_ms, t.max_attempts
  loop
    v_claims := v_claims || penstock.claim_mark(v_jobs, v_token, v_rule, v_lease_ms, v_max_attempts, p_incarnation, p_start);
  end loop;
  return v_claims;
end
$$;

-- Name: config_accepts(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.config_accepts(p_key text, OUT pattern text, OUT words text) RETURNS record
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select a.pattern, a.words
    from (values
      ('^(queue\.(consumer_dispatch\.enabled|subscription_resolution\.enabled|notify\.bridge_enabled)'
       '|iu_core\.(routes_enabled|route_worker_enabled)|playbook\.inline_code\.enabled)$',
       '^(true|false)$', 'true or false'),
      ('^queue\.retry\.max_attempts\.[A-Za-z][A-Za-z0-9_.:/-]{0,99}$', '^([1-9][0-9]{0,2}|1000)$', 'a number of attempts, 1 to 1000'),
      ('^(queue\.(lease_ms|timeout_ms)\.[A-Za-z][A-Za-z0-9_.:/-]{0,99}|subscription\.lease_ms)$', '^[1-9][0-9]{1,8}$',
       'whole milliseconds, 10 to 999999999'),
      ('^queue\.retry\.backoff\.strategy$', '^(exponential|linear|fixed)$', 'exponential, linear or fixed'),
      ('^queue\.retry\.backoff\.(base_ms|cap_ms)$', '^[0-9]{1,9}$', 'whole milliseconds, 0 to 999999999'),
      ('^queue\.retry\.backoff\.jitter$', '^(0|1|0?\.[0-9]{1,6})$', 'a share from 0 to 1, such as 0.2'),
      ('^(queue\.(heartbeat\.stale_threshold_seconds|cursor\.(lag_s|stall_s)|once_key\.ttl_s\.(job|event|dedup|replay))'
       '|subscription\.stall_s)$', '^[1-9][0-9]{0,8}$', 'whole seconds, 1 to 999999999'),
      ('^(queue\.(safe_payload|result|error)|execution\.(input|results|loop))\.max_bytes$', '^[1-9][0-9]{0,8}$', 'bytes, 1 to 999999999'),
      ('^markcut\.staging\.keep_days$', '^[1-9][0-9]{0,3}$', 'whole days, 1 to 9999'),
      ('^execution\.keep_days$', '^(0|[1-9][0-9]{0,4})$', 'whole days, 0 to 99999; 0 is as long as their jobs are kept'),
      ('^queue\.(causation|consumer_dispatch)\.max_depth$', '^[1-9][0-9]{0,8}$', 'a number of events, 1 to 999999999'),
      ('^execution\.(max_depth|loop\.max_items)$', '^[1-9][0-9]{0,5}$', 'a number, 1 to 999999'),
      ('^queue\.forbidden_keys$', '^[^,"\\]+(,[^,"\\]+)*$', 'names with commas between them, without quotes or backslashes')
    ) a(keys, pattern, words)
   where p_key ~ a.keys
$_$;

-- Name: config_for_kind(text, text, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.config_for_kind(p_prefix text, p_kind text, p_default bigint) RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce(
    (select c.value::bigint from penstock.dot_config c where c.key = p_prefix || '.' || p_kind),
    (select c.value::bigint from penstock.dot_config c where c.key = p_prefix || '.default'),
    p_default)
$$;

-- Name: config_text(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.config_text(p_key text, p_default text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return coalesce((select c.value from penstock.dot_config c where c.key = p_key), p_default);
end
$$;

-- Name: consumer_check(text, text, text, text, integer, numeric); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.consumer_check(p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_priority integer, p_rate_per_s numeric) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
  if coalesce(p_consumer_id, '') !~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be a consumer_id', p_consumer_id),
      hint = 'Use letters, digits and _ . -, at most 100, beginning with a letter.';
  end if;
  perform penstock.event_type_checked(p_event_domain, p_event_type, p_event_stream);
  if p_priority not between -32768 and 32767 then
    raise exception using errcode = 'PS011',
      message = format('consumer %s: priority %s is outside -32768 … 32767', p_consumer_id, p_priority);
  end if;
  if p_rate_per_s not between 0.0001 and 1000000 then
    raise exception using errcode = 'PS011',
      message = format('consumer %s: rate_per_s %s is outside 0.0001 … 1000000', p_consumer_id, p_rate_per_s);
  end if;
end
$_$;

-- Name: consumer_dead_letter; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.consumer_dead_letter (
    dead_letter_id bigint NOT NULL,
    consumer_id text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    reason text NOT NULL,
    error jsonb,
    event_snapshot jsonb NOT NULL,
    dead_at timestamp with time zone DEFAULT now() NOT NULL,
    resolved_at timestamp with time zone,
    resolved_by penstock.actor_ref,
    resolution text,
    replay_job_id bigint
);

-- Name: consumer_dead_letter_locked(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.consumer_dead_letter_locked(p_dead_letter_id bigint) RETURNS penstock.consumer_dead_letter
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_letter penstock.consumer_dead_letter;
begin
  select * into v_letter from penstock.consumer_dead_letter d where d.dead_letter_id = p_dead_letter_id for update;
  perform penstock.dead_letter_check('event-' || p_dead_letter_id, v_letter.dead_letter_id is not null, v_letter.resolution,
    v_letter.resolved_by, v_letter.resolved_at);
  return v_letter;
end
$$;

-- Name: event_seq; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE SEQUENCE penstock.event_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: event_outbox; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.event_outbox (
    event_id uuid DEFAULT gen_random_uuid() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    tx_id xid8 DEFAULT pg_current_xact_id() NOT NULL,
    seq bigint DEFAULT nextval('penstock.event_seq'::regclass) NOT NULL,
    event_domain text NOT NULL COLLATE pg_catalog."C",
    event_type text NOT NULL COLLATE pg_catalog."C",
    event_stream text NOT NULL COLLATE pg_catalog."C",
    subject_table text,
    subject_ref text,
    payload jsonb,
    actor penstock.actor_ref NOT NULL,
    correlation_id text,
    causation_event_id uuid,
    causation_depth smallint DEFAULT 0 NOT NULL,
    trace text
)
PARTITION BY RANGE (created_at);

-- Name: consumer_dispatch_one(penstock.event_outbox, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.consumer_dispatch_one(p_event penstock.event_outbox, p_consumer text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return penstock.consumers_dispatch(array[p_event], p_consumer);
exception when others then
  if penstock.error_is_passing(sqlstate) then
    raise;
  end if;
  insert into penstock.consumer_dead_letter (consumer_id, event_id, reason, error, event_snapshot)
  values (p_consumer, p_event.event_id, case when sqlstate = '55P03' then 'locked' else 'failed' end,
          jsonb_build_object('message', sqlerrm, 'sqlstate', sqlstate), to_jsonb(p_event))
  on conflict (consumer_id, event_id) where resolved_at is null do nothing;
  return case when sqlstate = '55P03' then '{"failed": 1, "locked": 1}'::jsonb else '{"failed": 1}' end;
end
$$;

-- Name: consumer_plans(penstock.event_outbox[], text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.consumer_plans(p_events penstock.event_outbox[], p_consumer text DEFAULT NULL::text) RETURNS SETOF penstock.consumer_plan
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with consumer as materialized (
    select c.*, penstock.template_format(c.idempotency_key_template) as key_format,
           penstock.template_format(c.payload_ref_template) as ref_format, ('consumer:' || c.consumer_id)::penstock.actor_ref as actor,
           jsonb_build_object('consumer_id', c.consumer_id, 'event_type', c.event_type) as safe_payload,
           penstock.config_text('queue.consumer_dispatch.max_depth', '8')::integer as max_depth
      from penstock.consumer_registry c where case when p_consumer is null then c.enabled else c.consumer_id = p_consumer end)
  select nextval('penstock.job_id_seq'), p.consumer_id, p.dry_run, p.fail_closed,
         case when p.key is null then 'its idempotency key uses a field that this event does not have'
              when p.causation_depth >= p.max_depth
                then format('it stands at the end of %s causes, and queue.consumer_dispatch.max_depth is %s', p.causation_depth,
                            p.max_depth)
              when length(p.key) not between 1 and 500 then 'its idempotency key does not have 1 to 500 characters'
              when length(p.ref) > 2000 or length(p.subject_ref) > 2000 then 'a ref of it is longer than 2000 characters' end,
         p.job_kind, p.executor, p.priority, p.actor, p.safe_payload, p.key, p.ref, p.event_id, p.event_domain, p.subject_ref,
         p.correlation_id, p.trace, (p.causation_depth + 1)::smallint
    from (select c.consumer_id, c.dry_run, c.fail_closed, c.job_kind, c.executor, c.priority, c.actor, c.safe_payload, c.max_depth,
                 e.event_id, e.event_domain, e.subject_ref, e.correlation_id, e.trace, e.causation_depth,
                 penstock.template_rendered(c.key_format, e) as key, penstock.template_rendered(c.ref_format, e) as ref
            from unnest(p_events) e
            -- the type decides: the stream it belongs to may have been another one when this was recorded
            join consumer c on c.event_domain = e.event_domain and c.event_type = e.event_type
           order by e.tx_id, e.seq, c.consumer_id) p
$$;

-- Name: consumer_replay(bigint, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.consumer_replay(p_dead_letter_id bigint, p_actor penstock.actor_ref) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_letter penstock.consumer_dead_letter := penstock.consumer_dead_letter_locked(p_dead_letter_id);
  v_events penstock.event_outbox[] := array[jsonb_populate_record(null::penstock.event_outbox, v_letter.event_snapshot)];
  v_plan penstock.consumer_plan;
  v_made bigint;
begin
  select * into v_plan from penstock.consumer_plans(v_events, v_letter.consumer_id);
  if v_plan.fault is null and not exists (select from penstock.consumer_registry c where c.consumer_id = v_plan.consumer_id and c.enabled)
     and v_plan.consumer_id is not null then
    v_plan.fault := 'the consumer is disabled';
  elsif penstock.config_text('queue.consumer_dispatch.enabled', 'true') <> 'true' then
    v_plan.fault := 'queue.consumer_dispatch.enabled is not true';
  end if;
  if v_plan.consumer_id is null or v_plan.dry_run or v_plan.fault is not null then
    raise exception using errcode = 'PS023', message = format('event %s still cannot become a job of %s: %s', v_letter.event_id,
      v_letter.consumer_id, case when v_plan.consumer_id is null then 'the consumer does not take it any more'
                                 else coalesce(v_plan.fault, 'the consumer only runs dry') end),
      hint = format('Change what stands in its way, or discard it: penstock dlq discard event-%s --reason TEXT', p_dead_letter_id);
  end if;
  perform penstock.consumers_dispatch(v_events, v_letter.consumer_id);
  select k.ref::bigint into v_made from penstock.once_key k where k.scope = 'job:' || v_plan.job_kind and k.key = v_plan.key;
  update penstock.consumer_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'replayed', replay_job_id = v_made
   where d.dead_letter_id = p_dead_letter_id;
  return 'job-' || v_made;
end
$$;

-- Name: consumers_dispatch(penstock.event_outbox[], text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.consumers_dispatch(p_events penstock.event_outbox[], p_consumer text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_expires timestamptz := now() + penstock.config_text('queue.once_key.ttl_s.job', '2592000')::bigint * interval '1 second';
  v_report jsonb;
begin
  perform penstock.partition_ensure('job', now());
  with planned as materialized (select * from penstock.consumer_plans(p_events, p_consumer)),
  first as materialized (
    select distinct on (p.job_kind collate "C", p.key collate "C") p.job_kind, p.key, p.job_id::text as ref
      from planned p where p.fault is null and not p.dry_run order by p.job_kind collate "C", p.key collate "C", p.job_id),
  taken as (
    insert into penstock.once_key as k (scope, key, ref, expires_at)
    select 'job:' || f.job_kind, f.key, f.ref, v_expires from first f
    on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
    returning k.ref::bigint as job_id),
  paced as materialized (
    select t.job_id, p.consumer_id, step, greatest(c.rate_at, now()) + step
             * (row_number() over (partition by p.consumer_id order by t.job_id) - 1) as at
      from penstock.consumer_registry c
     cross join lateral (select interval '1 second' / c.rate_per_s::float8) s(step)
      join planned p on p.consumer_id = c.consumer_id join taken t on t.job_id = p.job_id where c.rate_per_s is not null),
  made as materialized (
    select p.*, r.at from taken t join planned p on p.job_id = t.job_id left join paced r on r.job_id = t.job_id),
  jobs as (
    insert into penstock.job (job_id, enqueued_at, job_kind, executor, pool, event_domain, priority, process_after, idempotency_key,
      source_ref, target_ref, payload_ref, safe_payload, correlation_id, causation_event_id, causation_depth, trace, actor)
    select m.job_id, now(), m.job_kind, m.executor, 'shared', m.event_domain, m.priority, m.at, m.key, 'event/' || m.event_id,
           m.subject_ref, m.payload_ref, m.safe_payload, m.correlation_id, m.event_id, m.depth, m.trace, m.actor from made m),
  queue as (
    insert into penstock.job_queue (job_id, enqueued_at, process_after, status, priority, executor, job_kind, pool, event_domain)
    select m.job_id, now(), m.at, case when m.at > now() then 'scheduled'::penstock.job_status else 'ready' end, m.priority, m.executor,
           m.job_kind, 'shared', m.event_domain from made m),
  rates as (
    update penstock.consumer_registry c set rate_at = l.at
      from (select r.consumer_id, max(r.at + r.step) as at from paced r group by r.consumer_id) l where c.consumer_id = l.consumer_id),
  noted as (
    insert into penstock.consumer_dispatch (consumer_id, event_id, outcome, job_kind, idempotency_key, payload_ref, job_id)
    select p.consumer_id, p.event_id, case when p.dry_run then 'dry_run' else 'duplicate' end, p.job_kind, p.key, p.payload_ref,
           case when p.dry_run then null when f.ref::bigint in (select t.job_id from taken t) then f.ref::bigint else k.ref::bigint end
      from planned p
      left join first f on f.job_kind = p.job_kind and f.key = p.key
      left join penstock.once_key k on not p.dry_run and k.scope = 'job:' || p.job_kind and k.key = p.key
     where p.fault is null and (p.dry_run or p.job_id not in (select t.job_id from taken t))),
  dead as (
    insert into penstock.consumer_dead_letter (consumer_id, event_id, reason, error, event_snapshot)
    select p.consumer_id, p.event_id, 'cannot_become_a_job', jsonb_build_object('message', p.fault), to_jsonb(e)
      from planned p join unnest(p_events) e on e.event_id = p.event_id where p.fault is not null and p.fail_closed and not p.dry_run
    on conflict (consumer_id, event_id) where resolved_at is null do nothing),
  failed as (
    insert into penstock.consumer_dispatch (consumer_id, event_id, outcome, job_kind, idempotency_key, payload_ref, detail)
    select p.consumer_id, p.event_id, 'failed', p.job_kind, p.key, p.payload_ref, p.fault
      from planned p where p.fault is not null and (p.dry_run or not p.fail_closed))
  select jsonb_build_object('jobs', m.n, 'dry_run', count(*) filter (where p.fault is null and p.dry_run),
           'duplicates', count(*) filter (where p.fault is null and not p.dry_run) - m.n,
           'failed', count(*) filter (where p.fault is not null))
    into v_report from (select count(*) from taken) m(n) left join planned p on true group by m.n;
  if (v_report ->> 'jobs')::bigint > 0 then
    perform penstock.wake(array(select distinct e.event_domain from unnest(p_events) e));
  end if;
  return v_report;
end
$$;

-- Name: consumers_dispatch_apart(penstock.event_outbox[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.consumers_dispatch_apart(p_events penstock.event_outbox[]) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_event penstock.event_outbox;
  v_consumer penstock.consumer_registry;
  v_why text;
  v_locked integer := 0;
  v_one jsonb;
  v_sum jsonb := '{"jobs": 0, "dry_run": 0, "duplicates": 0, "failed": 0}';
begin
  begin
    return penstock.consumers_dispatch(p_events);
  exception when others then
    if penstock.error_is_passing(sqlstate) then
      raise;
    end if;
    -- whose fault it was shows below; if it shows nowhere, it was that of all together
    v_why := sqlerrm;
  end;
  perform set_config('lock_timeout', '100ms', true);
  foreach v_event in array p_events loop
    for v_consumer in
      select * from penstock.consumer_registry c
       where c.enabled and c.event_domain = v_event.event_domain and c.event_type = v_event.event_type
       order by c.consumer_id
    loop
      v_one := penstock.consumer_dispatch_one(v_event, v_consumer.consumer_id);
      v_sum := penstock.counts_added(v_sum, v_one);
      continue when not v_one ? 'locked';
      v_locked := v_locked + 1;
      if v_locked = 5 then
        -- the others have waited long enough
        perform set_config('lock_timeout', '1ms', true);
        if penstock.job_tables_locked() then
          raise exception using errcode = '55P03', message = 'somebody holds a lock on a whole table that jobs are written to';
        end if;
      end if;
    end loop;
  end loop;
  return v_sum - 'locked' || jsonb_build_object('apart', v_why);
end
$$;

-- Name: consumers_unlocked(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.consumers_unlocked(p_limit integer DEFAULT 500) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '50ms'
    AS $$
declare
  v_letter bigint;
  v_count integer := 0;
  v_still integer := 0;
begin
  for v_letter in
    select d.dead_letter_id from penstock.consumer_dead_letter d where d.resolved_at is null and d.reason = 'locked'
     order by d.dead_letter_id limit p_limit for update skip locked
  loop
    begin
      perform penstock.consumer_replay(v_letter, 'system:queue_tick');
      v_count := v_count + 1;
    exception when others then
      -- then its letter stays open, as it was
      if penstock.error_is_passing(sqlstate) then
        raise;
      end if;
      v_still := v_still + 1;
    end;
    -- they will be there at the next tick, too
    exit when v_still = 5;
  end loop;
  return v_count;
end
$$;

-- Name: counts_added(jsonb, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.counts_added(p_a jsonb, p_b jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    RETURN (SELECT jsonb_object_agg(k.key, (COALESCE(((counts_added.p_a ->> k.key))::bigint, (0)::bigint) + COALESCE(((counts_added.p_b ->> k.key))::bigint, (0)::bigint))) AS jsonb_object_agg FROM (SELECT jsonb_object_keys(counts_added.p_a) AS jsonb_object_keys UNION SELECT jsonb_object_keys(counts_added.p_b) AS jsonb_object_keys) k(key));

-- Name: cron_field(text, integer, integer, text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cron_field(p_field text, p_low integer, p_high integer, p_names text[]) RETURNS integer[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_weekday boolean := p_low = 0 and p_high = 6;
  v_part text;
  v_found text[];  -- *, a, b, n
  v_ends integer[];
  v_from integer;
  v_to integer;
  v_step integer;
  v_values integer[] := '{}';
begin
  foreach v_part in array regexp_split_to_array(upper(coalesce(p_field, '') collate "C"), ',') loop
    v_found := regexp_match(v_part, '^(?:(\*)|([0-9]{1,3}|[A-Z]{3})(?:-([0-9]{1,3}|[A-Z]{3}))?)(?:/([0-9]{1,3}))?$');
    v_ends := array(
      select case when e.word ~ '[0-9]' then e.word::integer else p_low - 1 + array_position(p_names, e.word) end
        from unnest(v_found[2:3]) with ordinality e(word, nth) order by e.nth);
    v_from := case when v_found[1] = '*' then p_low
                   when v_weekday and v_ends[1] = 7 and v_found[3] is null then 0
                   else v_ends[1] end;
    v_to := case when v_found[3] is not null then v_ends[2]
                 when v_found[1] = '*' or v_found[4] is not null then p_high
                 else v_from end;
    v_step := coalesce(v_found[4]::integer, 1);
    if not coalesce(v_from between p_low and v_to and v_to <= p_high + v_weekday::integer
                    and v_step between 1 and p_high - p_low + 1, false) then
      raise exception using errcode = 'PS008',
        message = format('cron field %L: expected numbers from %s to %s%s', p_field, p_low, p_high,
                         ' or names from ' || p_names[1] || ' to ' || p_names[cardinality(p_names)]),
        hint = format('A field is *, a, a-b, */n, a-b/n, a/n or a list of these with commas; '
                      'a range goes upwards, and n is 1 to %s.', p_high - p_low + 1);
    end if;
    v_values := v_values || array(select case when v_weekday then v % 7 else v end
                                    from generate_series(v_from, v_to, v_step) v);
  end loop;
  return array(select distinct v from unnest(v_values) v order by v);
end
$_$;

-- Name: cron_local_next(timestamp without time zone, timestamp without time zone, integer[], integer[], integer[], integer[], integer[], boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cron_local_next(p_from timestamp without time zone, p_until timestamp without time zone, p_minutes integer[], p_hours integer[], p_days integer[], p_months integer[], p_weekdays integer[], p_either_day boolean) RETURNS timestamp without time zone
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_at timestamp := p_from;
  v_by_day boolean;
  v_by_weekday boolean;
  v_hour integer;
  v_minute integer;
begin
  while v_at <= p_until loop
    if extract(month from v_at) <> all (p_months) then
      v_at := date_trunc('month', v_at) + interval '1 month';
      continue;
    end if;
    v_by_day := extract(day from v_at) = any (p_days);
    v_by_weekday := extract(dow from v_at) = any (p_weekdays);
    v_hour := (select min(h) from unnest(p_hours) h where h >= extract(hour from v_at));
    if v_hour is null or not (v_by_day and v_by_weekday or p_either_day and (v_by_day or v_by_weekday)) then
      v_at := date_trunc('day', v_at) + interval '1 day';
      continue;
    end if;
    v_at := greatest(v_at, date_trunc('day', v_at) + make_interval(hours => v_hour));
    v_minute := (select min(m) from unnest(p_minutes) m where m >= extract(minute from v_at));
    if v_minute is null then
      v_at := date_trunc('hour', v_at) + interval '1 hour';
      continue;
    end if;
    v_at := date_trunc('hour', v_at) + make_interval(mins => v_minute);
    return case when v_at <= p_until then v_at end;
  end loop;
  return null;
end
$$;

-- Name: cron_next(text, timestamp with time zone, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cron_next(p_cron text, p_after timestamp with time zone, p_timezone text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_fields text[] := regexp_split_to_array(btrim(case lower(btrim(p_cron))
    when '@hourly' then '0 * * * *'
    when '@daily' then '0 0 * * *' when '@midnight' then '0 0 * * *'
    when '@weekly' then '0 0 * * 0'
    when '@monthly' then '0 0 1 * *'
    when '@yearly' then '0 0 1 1 *' when '@annually' then '0 0 1 1 *'
    else p_cron end, E' \t'), '[ \t]+');
  v_minutes integer[];
  v_hours integer[];
  v_days integer[];
  v_months integer[];
  v_weekdays integer[];
  v_local timestamp := date_trunc('minute', p_after at time zone penstock.timezone_checked(p_timezone));
  v_until timestamp := v_local + interval '5 years';
  v_at timestamptz;
begin
  if cardinality(v_fields) is distinct from 5 or length(p_cron) > 1000 then
    raise exception using errcode = 'PS008',
      message = format('cron line %L: expected five fields (minute hour day month weekday)', left(p_cron, 100)),
      hint = 'Or one of @hourly @daily @midnight @weekly @monthly @yearly @annually; at most 1000 characters.';
  end if;
  if isfinite(p_after) is not true then
    raise exception using errcode = 'PS008', message = format('cron line %L: no run comes after %L', p_cron, p_after);
  end if;
  v_minutes := penstock.cron_field(v_fields[1], 0, 59, null);
  v_hours := penstock.cron_field(v_fields[2], 0, 23, null);
  v_days := penstock.cron_field(v_fields[3], 1, 31, null);
  v_months := penstock.cron_field(v_fields[4], 1, 12,
    array['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']);
  v_weekdays := penstock.cron_field(v_fields[5], 0, 6, array['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']);
  loop
    v_local := penstock.cron_local_next(v_local + interval '1 minute', v_until, v_minutes, v_hours, v_days, v_months,
                                        v_weekdays, v_fields[3] !~ '^\*' and v_fields[5] !~ '^\*');
    if v_local is null then
      raise exception using errcode = 'PS008',
        message = format('cron line %L does not come within 5 years after %s', p_cron, p_after),
        hint = 'Check day and month: 30 2 is a day that never is.';
    end if;
    v_at := penstock.local_instant(v_local, p_timezone);
    -- while an hour is repeated, what it already brought the first time lies before p_after
    exit when v_at > p_after;
  end loop;
  return v_at;
end
$$;

-- Name: event_cursor; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.event_cursor (
    cursor_name text NOT NULL COLLATE pg_catalog."C",
    tick_id bigint NOT NULL,
    goal_tick_id bigint,
    page_tx xid8,
    page_seq bigint,
    moved_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT event_cursor_check CHECK (((page_tx IS NULL) = (page_seq IS NULL))),
    CONSTRAINT event_cursor_check1 CHECK (((goal_tick_id IS NOT NULL) OR (page_tx IS NULL))),
    CONSTRAINT event_cursor_cursor_name_check CHECK ((cursor_name ~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$'::text))
);

-- Name: cursor_moved(penstock.event_cursor, penstock.event_outbox[], integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cursor_moved(p_cursor penstock.event_cursor, p_events penstock.event_outbox[], p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_goes_on boolean := cardinality(p_events) >= p_limit;
  v_last penstock.event_outbox := p_events[cardinality(p_events)];
begin
  update penstock.event_cursor c
     set tick_id = case when v_goes_on then c.tick_id else (p_cursor).goal_tick_id end,
         goal_tick_id = case when v_goes_on then (p_cursor).goal_tick_id end,
         page_tx = case when v_goes_on then v_last.tx_id end, page_seq = case when v_goes_on then v_last.seq end, moved_at = now()
   where c.cursor_name = (p_cursor).cursor_name;
  return v_goes_on or exists (select from penstock.outbox_tick t where t.tick_id > (p_cursor).goal_tick_id);
end
$$;

-- Name: cursor_page(penstock.event_cursor, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cursor_page(p_cursor penstock.event_cursor, p_limit integer) RETURNS penstock.event_outbox[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_from pg_snapshot := (select t.snapshot from penstock.outbox_tick t where t.tick_id = (p_cursor).tick_id);
  v_to pg_snapshot := (select t.snapshot from penstock.outbox_tick t where t.tick_id = (p_cursor).goal_tick_id);
begin
  if v_from is null or v_to is null then
    raise exception using errcode = 'PS011', message = format('the cursor %s stands at a tick that is gone', (p_cursor).cursor_name);
  end if;
  return array(select e from penstock.event_page(v_from, v_to, (p_cursor).page_tx, (p_cursor).page_seq, p_limit) e);
end
$$;

-- Name: cursor_taken(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cursor_taken(p_cursor text) RETURNS penstock.event_cursor
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_cursor penstock.event_cursor;
begin
  perform penstock.outbox_guard();
  select * into v_cursor from penstock.event_cursor c where c.cursor_name = p_cursor;
  if v_cursor.cursor_name is null then
    raise exception using errcode = 'PS011', message = format('there is no cursor %L', p_cursor);
  elsif v_cursor.goal_tick_id is null and not exists (select from penstock.outbox_tick t where t.tick_id > v_cursor.tick_id) then
    return v_cursor;  -- nothing to read, and so nothing to hold
  end if;
  select * into v_cursor from penstock.event_cursor c where c.cursor_name = p_cursor for update skip locked;
  if v_cursor.cursor_name is not null and v_cursor.goal_tick_id is null then
    -- not one of this transaction's own: it may write events after it
    select max(t.tick_id) into v_cursor.goal_tick_id from penstock.outbox_tick t
     where t.tick_id > v_cursor.tick_id
       and t.tx_id is distinct from penstock.tx_shifted(pg_current_xact_id_if_assigned(), (select b.base from penstock.outbox_base b));
  end if;
  return v_cursor;
end
$$;

-- Name: cursors_watch(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cursors_watch() RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_cursor record;
  v_count integer := 0;
begin
  for v_cursor in select * from penstock.v_event_cursor c where c.is_stalled or c.is_lagging loop
    v_count := v_count + 1;
    if not v_cursor.is_stalled then
      perform penstock.system_event_once('cursor_lagging', 'event_cursor', v_cursor.cursor_name,
        jsonb_build_object('oldest_unread_at', v_cursor.oldest_unread_at),
        format('%s:%s', v_cursor.cursor_name, extract(epoch from date_trunc('hour', now()))));
      continue;
    end if;
    perform penstock.system_event_once('cursor_stalled', 'event_cursor', v_cursor.cursor_name,
      jsonb_build_object('since', v_cursor.moved_at), format('%s:%s', v_cursor.cursor_name, extract(epoch from v_cursor.moved_at)));
  end loop;
  return v_count;
end
$$;

-- Name: cut_apply(penstock.piece_diff[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cut_apply(p_diff penstock.piece_diff[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
  update penstock.iu_piece p set position = null, deprecated_at = now()
    from unnest(p_diff) d where d.is_deprecated and p.piece_id = d.piece_id;
  update penstock.iu_piece p set position = d.position from unnest(p_diff) d where d.is_moved and p.piece_id = d.piece_id;
  update penstock.iu_piece p
     set sha256 = d.sha256, size_bytes = d.end_byte - d.first_byte, changed_at = now(),
         bytes = substring(r.bytes from d.first_byte + 1 for d.end_byte - d.first_byte)
    from unnest(p_diff) d join penstock.iu_staging_record r on r.staging_id = d.staging_id
   where d.is_changed and p.piece_id = d.piece_id;
  -- an address that comes back is the same piece, added again
  insert into penstock.iu_piece as p (document, address, position, size_bytes, sha256, bytes)
  select d.document, d.address, d.position, d.end_byte - d.first_byte, d.sha256,
         substring(r.bytes from d.first_byte + 1 for d.end_byte - d.first_byte)
    from unnest(p_diff) d join penstock.iu_staging_record r on r.staging_id = d.staging_id
   where d.is_added order by d.staging_id, d.position
  on conflict (address) do update
    set position = excluded.position, size_bytes = excluded.size_bytes, sha256 = excluded.sha256, bytes = excluded.bytes,
        added_at = now(), changed_at = null, deprecated_at = null
    where p.document = excluded.document;
end
$$;

-- Name: cut_diff(bigint[], bigint[], integer[], bytea[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cut_diff(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[]) RETURNS SETOF penstock.piece_diff
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
  with record as (
    select r.staging_id, r.document from penstock.iu_staging_record r where r.staging_id = any (p_staging_ids)),
  given as (
    select r.staging_id, r.document, m.address, m.position, m.first_byte, m.end_byte, h.sha256
      from record r join penstock.iu_staging_mark m on m.staging_id = r.staging_id
      left join unnest(p_of, p_positions, p_sha256) h(staging_id, position, sha256)
        on h.staging_id = m.staging_id and h.position = m.position),
  live as (
    -- document by document: without statistics the planner would rather read all pieces there are
    select r.staging_id, r.document, p.piece_id, p.address, p.position, p.sha256
      from record r cross join lateral (
        select l.piece_id, l.address, l.position, l.sha256 from penstock.iu_piece l
         where l.document = r.document and l.position is not null offset 0) p),
  pair as (
    select coalesce(g.staging_id, l.staging_id) as staging_id, coalesce(g.document, l.document) as document, l.piece_id,
           coalesce(g.address, l.address) as address, g.position, l.position as old_position, g.first_byte, g.end_byte,
           coalesce(g.sha256, l.sha256) as sha256, l.sha256 as old_sha256,
           g.address is not null and l.address is not null as is_in_both
      from given g full join live l on l.document = g.document and l.address = g.address)
  select p.staging_id, p.document, p.piece_id, p.address, p.position, p.first_byte, p.end_byte, p.sha256,
         p.piece_id is null, p.is_in_both and p.sha256 <> p.old_sha256, p.is_in_both and p.position <> p.old_position,
         p.is_in_both and row_number() over (partition by p.document, p.is_in_both order by p.position)
                          <> row_number() over (partition by p.document, p.is_in_both order by p.old_position),
         p.position is null
    from pair p
$$;

-- Name: cut_locked(bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cut_locked(p_staging_ids bigint[], OUT held bigint[], OUT newest bigint[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_names text[];
begin
  select coalesce(array_agg(l.staging_id), '{}'), coalesce(array_agg(l.document order by l.document), '{}') into held, v_names
    from (select r.staging_id, r.document from penstock.iu_staging_record r
           where r.staging_id = any (p_staging_ids) and r.state = 'mark_verified' order by r.staging_id for update) l;
  if cardinality(v_names) <> (select count(distinct n) from unnest(v_names) n) then
    raise exception using errcode = 'PS011', message = 'a call cuts one version of each document';
  end if;
  insert into penstock.iu_document (document) select n from unnest(v_names) n order by n on conflict do nothing;
  perform from penstock.iu_document d where d.document = any (v_names) order by d.document for update;
  update penstock.iu_staging_record r set state = 'cut' where r.staging_id = any (held);
  -- a NEW statement: what we waited for is seen only now
  newest := array(select r.staging_id from penstock.iu_staging_record r join penstock.iu_document d on d.document = r.document
                   where r.staging_id = any (held) and coalesce(d.staging_id, 0) < r.staging_id);
end
$$;

-- Name: cut_tell(penstock.piece_diff[], penstock.actor_ref, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.cut_tell(p_diff penstock.piece_diff[], p_actor penstock.actor_ref, p_correlation_id text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_said jsonb := '{}';
  v_type text;
  v_refs text[];
  v_payloads jsonb[];
begin
  foreach v_type in array array['added', 'changed', 'reordered', 'deprecated'] loop
    select array_agg(d.address order by d.document, d.position, d.address),
           array_agg(jsonb_build_object('document', d.document, 'position', d.position, 'sha256', encode(d.sha256, 'hex'))
                     order by d.document, d.position, d.address)
      into v_refs, v_payloads
      from unnest(p_diff) d
     where case v_type when 'added' then d.is_added when 'changed' then d.is_changed when 'reordered' then d.is_reordered
                       else d.is_deprecated end;
    perform penstock.events_insert('piece', 'piece_' || v_type, 'penstock.iu_piece', v_refs, v_payloads, p_actor, p_correlation_id);
    v_said := v_said || jsonb_build_object(v_type, coalesce(cardinality(v_refs), 0));
  end loop;
  return v_said;
end
$$;

-- Name: dead_letter_check(text, boolean, text, text, timestamp with time zone); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.dead_letter_check(p_id text, p_is_there boolean, p_resolution text, p_resolved_by text, p_resolved_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if not p_is_there then
    raise exception using errcode = 'PS014', message = format('dead letter %s does not exist', p_id),
      hint = 'penstock dlq list shows the open ones.';
  elsif p_resolved_at is not null then
    raise exception using errcode = 'PS014',
      message = format('dead letter %s was %s by %s at %s', p_id, p_resolution, p_resolved_by, p_resolved_at);
  end if;
end
$$;

-- Name: job_dead_letter; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_dead_letter (
    dead_letter_id bigint NOT NULL,
    job_id bigint NOT NULL,
    job_kind text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    error jsonb,
    snapshot jsonb NOT NULL,
    dead_at timestamp with time zone DEFAULT now() NOT NULL,
    resolved_at timestamp with time zone,
    resolved_by penstock.actor_ref,
    resolution text,
    replay_job_id bigint
);

-- Name: dead_letter_locked(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.dead_letter_locked(p_dead_letter_id bigint) RETURNS penstock.job_dead_letter
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_letter penstock.job_dead_letter;
begin
  select * into v_letter from penstock.job_dead_letter d where d.dead_letter_id = p_dead_letter_id for update;
  perform penstock.dead_letter_check('job-' || p_dead_letter_id, v_letter.dead_letter_id is not null, v_letter.resolution,
    v_letter.resolved_by, v_letter.resolved_at);
  return v_letter;
end
$$;

-- Name: dead_letter_number(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.dead_letter_number(p_id text, p_origin text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
  if p_id is null or p_id !~ ('^' || p_origin || '-[0-9]{1,18}$') then
    raise exception using errcode = 'PS014', message = format('%L is not a dead letter', p_id),
      hint = 'An id looks like job-12, ingest-12, event-12 or route-12; penstock dlq list shows the open ones.';
  end if;
  return substr(p_id, length(p_origin) + 2)::bigint;
end
$_$;

-- Name: drain_jobs(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.drain_jobs(p_kind text) RETURNS TABLE(job_id bigint, status penstock.job_status)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select q.job_id, q.status from penstock.job_queue q
   where q.lane = p_kind and q.status in ('ready', 'leased', 'running', 'awaiting', 'retrying') and q.job_kind = p_kind
  union all
  select q.job_id, q.status from penstock.job_queue q where q.lane = p_kind and q.status = 'blocked' and q.job_kind = p_kind
  union all
  select q.job_id, q.status from penstock.job_queue q where q.lane = p_kind and q.status = 'scheduled' and q.job_kind = p_kind
$$;

-- Name: drains_cancel(text, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.drains_cancel(p_kind text, p_actor penstock.actor_ref) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_job bigint;
begin
  for v_job in
    select q.job_id from penstock.job_queue q
     where q.job_id = any (array(select d.job_id from penstock.drain_jobs(p_kind) d)) and q.status not in ('leased', 'running')
     order by q.job_id for update skip locked
  loop
    perform penstock.fn_job_cancel(v_job, p_actor, 'its subscription is not drained by the clock any more');
  end loop;
end
$$;

-- Name: error_bounded(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.error_bounded(p_error jsonb) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when p_error is null or pg_column_size(p_error) <= penstock.config_text('queue.error.max_bytes', '16384')::bigint then p_error
              else jsonb_build_object('type', left(p_error ->> 'type', 200), 'message', left(p_error ->> 'message', 2000),
                                      'permanent', p_error -> 'permanent', 'truncated', true) end
$$;

-- Name: error_is_passing(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.error_is_passing(p_sqlstate text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN (p_sqlstate ~ '^(40|53|57|58|XX)'::text);

-- Name: event_contract_check(text, text, jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_contract_check(p_event_domain text, p_event_type text, p_payload jsonb, p_what text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_contract jsonb;
  v_key text;
begin
  select r.payload_contract into v_contract from penstock.event_type_registry r
   where r.event_domain = p_event_domain and r.event_type = p_event_type;
  if v_contract is null or jsonb_typeof(p_payload) is distinct from 'object' then
    return;
  end if;
  if v_contract ? 'keep_refs' then
    select k into v_key from jsonb_object_keys(p_payload) k
     where k <> all (penstock.names_of(v_contract -> 'keep_refs')) order by k limit 1;
  end if;
  v_key := coalesce(v_key, penstock.key_found(p_payload, penstock.names_of(v_contract -> 'forbid_keys')));
  if v_key is not null then
    raise exception using errcode = 'PS006', message = format('%s holds the key %L, which the contract of %s.%s does not allow', p_what,
      v_key, p_event_domain, p_event_type), hint = format('The contract is %s.', v_contract);
  end if;
end
$$;

-- Name: event_insert(uuid, text, text, text, text, text, jsonb, penstock.actor_ref, text, uuid, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_insert(p_event_id uuid, p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor penstock.actor_ref, p_correlation_id text, p_causation_event_id uuid, p_trace text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_depth integer := penstock.causation_depth(p_causation_event_id);
begin
  if jsonb_typeof(p_payload) not in ('object', 'null') then
    raise exception using errcode = 'PS011', message = format('the payload of event %s.%s is a JSON %s: it has to be an object',
      p_event_domain, p_event_type, jsonb_typeof(p_payload));
  end if;
  perform penstock.payload_check(p_payload, 'the event payload');
  perform penstock.event_contract_check(p_event_domain, p_event_type, p_payload, 'the event payload');
  if pg_column_size(p_payload) > penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint then
    raise exception using errcode = 'PS007', message = format('the payload of event %s.%s is larger than %s bytes', p_event_domain,
      p_event_type, penstock.config_text('queue.safe_payload.max_bytes', '8192')),
      hint = 'Events carry a signal: keep the data elsewhere and pass its address as a ref.';
  end if;
  perform penstock.partition_ensure('event_outbox', now());
  insert into penstock.event_outbox (
    event_id, event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor, correlation_id,
    causation_event_id, causation_depth, trace)
  values (p_event_id, p_event_domain, p_event_type, p_event_stream, p_subject_table, p_subject_ref, p_payload, p_actor,
          p_correlation_id, p_causation_event_id, v_depth, p_trace);
  perform penstock.wake(array['_outbox']);
end
$$;

-- Name: event_page(pg_snapshot, pg_snapshot, xid8, bigint, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_page(p_from pg_snapshot, p_to pg_snapshot, p_tx xid8, p_seq bigint, p_limit integer) RETURNS SETOF penstock.event_outbox
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_tx xid8 := coalesce(p_tx, '0');
  v_seq bigint := coalesce(p_seq, 0);
  v_count integer;
begin
  return query
    select e.* from pg_snapshot_xip(p_from) x
     cross join lateral (select o.* from penstock.event_outbox o
                          where o.tx_id = x and o.seq > case when x = v_tx then v_seq else 0 end order by o.seq limit p_limit) e
     where x >= v_tx and pg_visible_in_snapshot(x, p_to)
     order by e.tx_id, e.seq limit p_limit;
  get diagnostics v_count = row_count;
  return query
    select o.* from penstock.event_outbox o
     where (o.tx_id, o.seq) > (greatest(v_tx, pg_snapshot_xmax(p_from)), case when v_tx >= pg_snapshot_xmax(p_from) then v_seq else 0 end)
       and o.tx_id < pg_snapshot_xmax(p_to) and pg_visible_in_snapshot(o.tx_id, p_to)
     order by o.tx_id, o.seq limit p_limit - v_count;
end
$$;

-- Name: event_recipients(penstock.event_outbox); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_recipients(p_event penstock.event_outbox) RETURNS TABLE(recipient_ref penstock.actor_ref, rule text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with decided as materialized (select * from penstock.event_rules(p_event)),
  given as materialized (
    select d.recipient_ref, d.rule from decided d
     where not d.mute and penstock.config_text('queue.subscription_resolution.enabled', 'true') = 'true')
  select g.recipient_ref, g.rule from given g
  union all
  select distinct s.recipient_ref, 'broadcast' from penstock.event_subscription s
   where not exists (select from given)
     and not exists (select from decided d where d.recipient_ref = s.recipient_ref and d.mute)
$$;

-- Name: event_rules(penstock.event_outbox); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_rules(p_event penstock.event_outbox) RETURNS TABLE(recipient_ref penstock.actor_ref, rule text, mute boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select distinct on (s.recipient_ref) s.recipient_ref,
         (array['exact', 'type_wildcard', 'stream_wildcard', 'domain_only'])[r.rung], s.mute
    from penstock.event_subscription s
   cross join lateral (select 1 + (s.event_type is null)::integer + 2 * (s.event_stream is null)::integer) r(rung)
   where s.event_domain = (p_event).event_domain
     and coalesce(s.event_type, (p_event).event_type) = (p_event).event_type
     and coalesce(s.event_stream, (p_event).event_stream) = (p_event).event_stream
     and (s.scope_subject_table is null or s.scope_subject_table = (p_event).subject_table)
     and coalesce((p_event).payload, '{}') @> s.scope_filter
   order by s.recipient_ref, r.rung, (s.scope_subject_table is not null or s.scope_filter <> '{}') desc, s.mute desc
$$;

-- Name: event_stream_moved(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_stream_moved(p_event_domain text, p_event_type text, p_event_stream text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_route text;
begin
  update penstock.consumer_registry c set event_stream = p_event_stream
   where c.event_domain = p_event_domain and c.event_type = p_event_type and c.event_stream <> p_event_stream;
  update penstock.iu_outbound_route r set event_stream = p_event_stream
   where r.event_domain = p_event_domain and r.event_type = p_event_type and r.event_stream <> p_event_stream;
  update penstock.event_subscription s set event_stream = p_event_stream
   where s.event_domain = p_event_domain and s.event_type = p_event_type and s.event_stream <> p_event_stream
     and not exists (select from penstock.event_subscription t
                      where t.recipient_ref = s.recipient_ref and t.event_domain = s.event_domain and t.event_type = s.event_type
                        and t.event_stream = p_event_stream and t.scope_subject_table is not distinct from s.scope_subject_table
                        and t.scope_filter = s.scope_filter);
  for v_route in
    update penstock.iu_sql_event_route r set target_event_stream = p_event_stream
     where r.target_event_domain = p_event_domain and r.target_event_type = p_event_type and r.target_event_stream <> p_event_stream
    returning r.route_code
  loop
    perform penstock.fn_sql_event_route_apply(v_route);
  end loop;
end
$$;

-- Name: event_told(penstock.event_outbox); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_told(p_event penstock.event_outbox) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN jsonb_build_object('event_id', (p_event).event_id, 'event_domain', (p_event).event_domain, 'event_type', (p_event).event_type, 'event_stream', (p_event).event_stream, 'created_at', (p_event).created_at, 'subject_table', (p_event).subject_table, 'subject_ref', (p_event).subject_ref, 'payload', (p_event).payload, 'actor', (p_event).actor, 'correlation_id', (p_event).correlation_id, 'causation_event_id', (p_event).causation_event_id, 'trace', (p_event).trace);

-- Name: event_type_checked(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_type_checked(p_event_domain text, p_event_type text, p_event_stream text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_stream text;
begin
  select r.event_stream into v_stream from penstock.event_type_registry r
   where r.event_domain = p_event_domain and r.event_type = p_event_type;
  if v_stream is null or v_stream <> coalesce(p_event_stream, v_stream) then
    raise exception using errcode = 'PS013', message = format('event type %s.%s%s is not registered', p_event_domain, p_event_type,
      case when v_stream is null then '' else format(' in stream %s (but in %s)', p_event_stream, v_stream) end),
      hint = 'Register it with fn_event_type_register.';
  end if;
  return v_stream;
end
$$;

-- Name: event_types_for(penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.event_types_for(p_recipient_ref penstock.actor_ref) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(
    select r.event_domain || '.' || r.event_type from penstock.event_type_registry r
     where exists (select from penstock.event_subscription s
                    where s.recipient_ref = p_recipient_ref and not s.mute and s.event_domain = r.event_domain
                      and coalesce(s.event_type, r.event_type) = r.event_type)
        or penstock.config_text('queue.subscription_resolution.enabled', 'true') <> 'true'
        -- somebody gets every one of them: none is a broadcast
        or not exists (select from penstock.event_subscription s
                        where not s.mute and s.event_domain = r.event_domain and coalesce(s.event_type, r.event_type) = r.event_type
                          and s.event_stream is null and s.scope_subject_table is null and s.scope_filter = '{}'
                          and not exists (select from penstock.event_subscription m
                                           where m.recipient_ref = s.recipient_ref and m.event_domain = r.event_domain and m.mute)))
$$;

-- Name: events_audit(interval, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.events_audit(p_age interval DEFAULT '01:00:00'::interval, p_limit integer DEFAULT 20000) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_cursor penstock.event_cursor;
  v_events penstock.event_outbox[];
  v_missing penstock.event_outbox[];
  v_since timestamptz;
begin
  if penstock.config_text('queue.consumer_dispatch.enabled', 'true') <> 'true' then
    return null;
  end if;
  select * into v_cursor from penstock.event_cursor c where c.cursor_name = 'audit' for update skip locked;
  if v_cursor.goal_tick_id is null then
    select max(t.tick_id) into v_cursor.goal_tick_id from penstock.outbox_tick t
     where t.tick_id > v_cursor.tick_id and t.ticked_at < now() - p_age and v_cursor.moved_at < now() - p_age
       -- only what the dispatcher is past
       and t.tick_id <= (select d.tick_id from penstock.event_cursor d where d.cursor_name = 'consumers');
  end if;
  if v_cursor.goal_tick_id is null then
    return null;
  end if;
  v_events := penstock.cursor_page(v_cursor, p_limit);
  v_since := (select min(e.created_at) from unnest(v_events) e);
  v_missing := array(
    with made as materialized (
      select j.causation_event_id, j.actor from penstock.job j where j.enqueued_at >= v_since and j.causation_event_id is not null)
    select distinct e from unnest(v_events) e
      join penstock.v_consumer_registry_active c on c.event_domain = e.event_domain and c.event_type = e.event_type
     -- a transaction that began before the consumer was live may have been dispatched before
     where e.created_at > c.live_at + interval '1 minute'
       and not exists (select from made m where m.causation_event_id = e.event_id and m.actor = 'consumer:' || c.consumer_id)
       and not exists (select from penstock.consumer_dispatch d where d.consumer_id = c.consumer_id and d.event_id = e.event_id)
       and not exists (select from penstock.consumer_dead_letter d where d.consumer_id = c.consumer_id and d.event_id = e.event_id));
  perform penstock.cursor_moved(v_cursor, v_events, p_limit);
  if cardinality(v_missing) > 0 then
    perform penstock.event_insert(gen_random_uuid(), 'system', 'events_missed', 'alert', 'event_cursor', 'consumers',
      jsonb_build_object('events', cardinality(v_missing), 'first', (v_missing[1]).event_id), 'system:queue_tick', null, null, null);
    perform penstock.consumers_dispatch_apart(v_missing);
  end if;
  return jsonb_build_object('events', cardinality(v_events), 'missing', cardinality(v_missing));
end
$$;

-- Name: events_insert(text, text, text, text[], jsonb[], penstock.actor_ref, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.events_insert(p_event_domain text, p_event_type text, p_subject_table text, p_refs text[], p_payloads jsonb[], p_actor penstock.actor_ref, p_correlation_id text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_stream text := penstock.event_type_checked(p_event_domain, p_event_type, null);
  v_most bigint := penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint;
begin
  if coalesce(cardinality(p_refs), 0) = 0 then
    return;
  end if;
  -- one pass over the text of all of them
  perform penstock.payload_check(to_jsonb(p_payloads), 'the event payload');
  if exists (select from penstock.event_type_registry r
              where r.event_domain = p_event_domain and r.event_type = p_event_type and r.payload_contract is not null) then
    perform penstock.event_contract_check(p_event_domain, p_event_type, p, 'the event payload') from unnest(p_payloads) p;
  end if;
  if exists (select from unnest(p_payloads) p where pg_column_size(p) > v_most) then
    raise exception using errcode = 'PS007', message = format('the payload of event %s.%s is larger than %s bytes', p_event_domain,
      p_event_type, v_most), hint = 'Events carry a signal: keep the data elsewhere and pass its address as a ref.';
  end if;
  perform penstock.partition_ensure('event_outbox', now());
  insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor, correlation_id)
  select p_event_domain, p_event_type, v_stream, p_subject_table, g.ref, g.payload, p_actor, p_correlation_id
    from unnest(p_refs, p_payloads) with ordinality g(ref, payload, n) order by g.n;
  perform penstock.wake(array['_outbox']);
end
$$;

-- Name: events_sweep(integer, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.events_sweep(p_limit integer DEFAULT 1000, p_ticks integer DEFAULT 1000) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_rows integer;
  v_sum integer := 0;
begin
  -- one that reads meanwhile will stand where nobody sees it yet
  if (select count(*) from (select from penstock.event_cursor c for update skip locked) h)
     < (select count(*) from penstock.event_cursor c) then
    p_ticks := 0;
  end if;
  delete from penstock.outbox_tick t
   where t.tick_id in (select o.tick_id from penstock.outbox_tick o
                        where o.ticked_at < now() - interval '2 days' and o.tick_id < (select max(n.tick_id) from penstock.outbox_tick n)
                          and not exists (select from penstock.event_cursor c where o.tick_id in (c.tick_id, c.goal_tick_id))
                        order by o.tick_id limit p_ticks);
  get diagnostics v_rows = row_count;
  v_sum := v_sum + v_rows;
  delete from penstock.consumer_dispatch d
   where d.ctid in (select o.ctid from penstock.consumer_dispatch o where o.dispatched_at < now() - interval '30 days' limit p_limit);
  get diagnostics v_rows = row_count;
  v_sum := v_sum + v_rows;
  delete from penstock.sql_event_route_note d
   where d.ctid in (select o.ctid from penstock.sql_event_route_note o where o.noted_at < now() - interval '30 days' limit p_limit);
  get diagnostics v_rows = row_count;
  v_sum := v_sum + v_rows;
  delete from penstock.iu_route_attempt d
   where d.attempt_id in (select o.attempt_id from penstock.iu_route_attempt o where o.attempted_at < now() - interval '30 days'
                             and o.status in ('skipped', 'disabled') order by o.attempted_at limit p_limit);
  get diagnostics v_rows = row_count;
  delete from penstock.event_broadcast b where b.hour < now() - interval '7 days';
  return v_sum + v_rows;
end
$$;

-- Name: execution_cancelled(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.execution_cancelled(p_execution_id bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[];
  v_ends penstock.step_end[];
begin
  update penstock.job_workflow w set status = 'cancelling' where w.execution_id = p_execution_id;
  perform penstock.execution_jobs_locked(p_execution_id);
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  update penstock.job_queue q set cancel_requested = true
   where q.execution_id = p_execution_id and q.status in ('leased', 'running');
  with gone as (
    delete from penstock.job_queue q where q.execution_id = p_execution_id and q.status not in ('leased', 'running') returning q.*
  ), unasked as (
    delete from penstock.job_await a using gone g where a.job_id = g.job_id
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
    select g.job_id, clock_timestamp(), coalesce(g.lease_token, 0), g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'cancelled',
           'cancelled' from gone g
  )
  select array_agg(g.lane) filter (where g.lane is not null and g.status in ('ready', 'awaiting', 'retrying')),
         array_agg(row(g.execution_id, g.step_id, g.visit, g.item, g.job_id, 'gone', null, null)::penstock.step_end)
    into v_lanes, v_ends from gone g;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if v_ends is not null then
    perform penstock.steps_end(v_ends);
  end if;
end
$$;

-- Name: execution_input_check(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.execution_input_check(p_input jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_input is not null and jsonb_typeof(p_input) <> 'object' then
    raise exception using errcode = 'PS011', message = format('the payload is a JSON %s: it must be an object', jsonb_typeof(p_input));
  end if;
  if octet_length(p_input::text) > penstock.config_text('execution.input.max_bytes', '1048576')::bigint then
    raise exception using errcode = 'PS007', message = format('the payload has %s bytes, more than execution.input.max_bytes allows (%s)',
      octet_length(p_input::text), penstock.config_text('execution.input.max_bytes', '1048576')),
      hint = 'Keep large data elsewhere and pass its address.';
  end if;
end
$$;

-- Name: execution_jobs_locked(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.execution_jobs_locked(p_execution_id bigint) RETURNS bigint[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_locked bigint[];
begin
  loop
    v_locked := array(select q.job_id from penstock.job_queue q where q.execution_id = p_execution_id order by q.job_id for update);
    exit when not exists (select from penstock.job_queue q where q.execution_id = p_execution_id and q.job_id <> all (v_locked));
  end loop;
  return v_locked;
end
$$;

-- Name: execution_paused(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.execution_paused(p_execution_id bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_jobs bigint[];
begin
  update penstock.job_workflow w set status = 'paused' where w.execution_id = p_execution_id;
  v_jobs := penstock.execution_jobs_locked(p_execution_id);
  perform penstock.steps_hold(v_jobs);
  -- what waits for its lane waits for the execution now
  update penstock.job_queue q set hold = 'paused' where q.job_id = any (v_jobs) and q.status = 'blocked' and q.hold is null;
end
$$;

-- Name: execution_requests_check(jsonb, penstock.playbook_target[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.execution_requests_check(p_requests jsonb, p_targets penstock.playbook_target[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_fields text[] := array['playbook', 'payload', 'idempotency_key', 'pool', 'trace', 'priority', 'process_after', 'correlation_id',
                           'actor'];
  v_max bigint := penstock.config_text('execution.input.max_bytes', '1048576')::bigint;
  v_bad jsonb;
begin
  select r into v_bad from jsonb_array_elements(p_requests) r
   where case when jsonb_typeof(r) = 'object' then r - v_fields <> '{}' else true end limit 1;
  if found then
    raise exception using errcode = 'PS011', message = case when jsonb_typeof(v_bad) <> 'object' then 'a request is no object'
      else format('unknown field %s', (select min(k) from jsonb_object_keys(v_bad - v_fields) k)) end;
  end if;
  select r into v_bad from jsonb_array_elements(p_requests) r
   where not exists (select from unnest(p_targets) t where t.path = r ->> 'playbook') limit 1;
  if found then
    raise exception using errcode = 'PS016', message = format('the playbook %s is not in the catalog', v_bad ->> 'playbook'),
      hint = 'penstock catalog list shows what is.';
  end if;
  select r -> 'payload' into v_bad from jsonb_array_elements(p_requests) r
   where r ? 'payload' and (jsonb_typeof(r -> 'payload') <> 'object' or octet_length((r -> 'payload')::text) > v_max) limit 1;
  if found then
    perform penstock.execution_input_check(v_bad);
  end if;
end
$$;

-- Name: execution_resumed(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.execution_resumed(p_execution_id bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[];
begin
  update penstock.job_workflow w set status = 'running' where w.execution_id = p_execution_id;
  perform penstock.execution_jobs_locked(p_execution_id);
  with freed as (
    update penstock.job_queue q
       set hold = null, status = case when q.process_after > now() then 'scheduled'::penstock.job_status
                                      when q.lane is null then 'ready' else 'blocked' end
     where q.execution_id = p_execution_id and q.hold = 'paused'
    returning q.lane, q.status)
  select array_agg(distinct f.lane) filter (where f.lane is not null and f.status = 'blocked') into v_lanes from freed f;
  if v_lanes is not null then
    perform penstock.lanes_settle(v_lanes);
  end if;
  perform penstock.wake(array['']);
end
$$;

-- Name: execution_retried(bigint, bigint, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.execution_retried(p_execution_id bigint, p_job_id bigint, p_actor penstock.actor_ref) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_stuck penstock.job_step[];
  v_again penstock.step_start[];
begin
  with stuck as (
    update penstock.job_step t set is_stuck = false
     where t.execution_id = p_execution_id and t.is_stuck and (p_job_id is null or p_job_id in (t.job_id, t.decider))
    returning t.*)
  select array_agg(s::penstock.job_step order by s.job_id) into v_stuck from stuck s;
  if v_stuck is null then
    return 0;
  end if;
  v_again := array(
    select row(s.execution_id, s.step_id, s.visit, case when s.decider is not null then -1 else s.item end, null, s.job_id, s.via,
               case when s.item > 0 and p.max_in_flight is not null then 'loop' end, i.item, null,
               s.decider is null)::penstock.step_start
      from unnest(v_stuck) s
      join penstock.playbook_step p on p.step_id = s.step_id
      left join penstock.job_item i on i.job_id = s.job_id
     order by s.job_id);
  update penstock.job_workflow w
     set status = case when w.status = 'failed' then 'running' else w.status end, finished_at = null,
         open = w.open + cardinality(v_again), stuck = w.stuck - cardinality(v_again)
   where w.execution_id = p_execution_id;
  perform penstock.steps_start(v_again);
  update penstock.job_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'replayed', replay_job_id = coalesce(t.decider, t.job_id)
    from unnest(v_stuck) s
    join penstock.job_step t on (t.execution_id, t.step_id, t.visit, t.item) = (s.execution_id, s.step_id, s.visit, s.item)
   where d.job_id in (s.job_id, s.decider) and d.resolved_at is null;
  -- the new jobs have them now
  delete from penstock.job_item i using unnest(v_stuck) s where i.job_id = s.job_id and s.decider is null;
  perform penstock.loops_advance(array(
    select row(s.execution_id, s.step_id, s.visit, s.item, s.job_id, 'stuck', null, null)::penstock.step_end
      from unnest(v_stuck) s where s.item > 0));
  return cardinality(v_again);
end
$$;

-- Name: execution_rows(jsonb, penstock.playbook_target[], penstock.execution_parent); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.execution_rows(p_requests jsonb, p_targets penstock.playbook_target[], p_parent penstock.execution_parent) RETURNS penstock.job_request[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_rows penstock.job_request[];
begin
  perform penstock.execution_requests_check(p_requests, p_targets);
  -- keys are a playbook's own, or those of the job that starts it: nobody else can name them
  v_rows := array(
    select row(r.ordinality, i.id, t.job_kind, t.path || ':' || r.idempotency_key, t.executor, null, null,
               case when r.payload is not null then 'penstock://input/' || i.id end, null, coalesce(r.priority, 0), r.process_after,
               r.correlation_id, (p_parent).causation_event_id, coalesce((p_parent).actor, r.actor, 'role:' || penstock.caller()),
               coalesce(r.pool, t.pool, 'shared'), t.lane, null, r.trace, t.max_attempts, null, t.ref, null,
               (p_parent).causation_depth)::penstock.job_request
      from rows from (jsonb_to_recordset(p_requests) as (
             playbook text, payload jsonb, idempotency_key text, pool text, trace text, priority integer, process_after timestamptz,
             correlation_id text, actor text)) with ordinality r
      join unnest(p_targets) t on t.path = r.playbook
     cross join lateral (select nextval('penstock.job_id_seq') + 0 * r.ordinality) i(id)
     order by r.ordinality);
  if (p_parent).job_id is null then
    perform penstock.job_request_check(v_rows);
  elsif exists (select from unnest(v_rows) r where penstock.job_request_fault(r, null) is not null) then
    perform penstock.job_request_refuse(v_rows);
  end if;
  return v_rows;
end
$$;

-- Name: executions_start(jsonb, penstock.execution_parent); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.executions_start(p_requests jsonb, p_parent penstock.execution_parent) RETURNS TABLE(ordinal integer, execution_id bigint, created boolean)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_targets penstock.playbook_target[] := penstock.playbook_targets(array(
    select distinct r ->> 'playbook' from jsonb_array_elements(p_requests) r));
  v_rows penstock.job_request[] := penstock.execution_rows(p_requests, v_targets, p_parent);
  v_new penstock.job_request[];
  v_scope text := coalesce('child:' || (p_parent).job_id, 'execution');
begin
  v_new := case when exists (select from unnest(v_rows) r where r.idempotency_key is not null)
                then penstock.job_request_once(v_rows, v_scope) else v_rows end;
  perform penstock.executions_write(v_new, v_targets, p_requests, p_parent);
  if cardinality(v_new) = cardinality(v_rows) then
    return query select r.ordinal, r.job_id, true from unnest(v_rows) r;
    return;
  end if;
  return query
    select r.ordinal, coalesce(n.job_id, k.ref::bigint), n.ordinal is not null
      from unnest(v_rows) r
      left join unnest(v_new) n on n.ordinal = r.ordinal
      left join penstock.once_key k on n.ordinal is null and k.scope = v_scope and k.key = r.idempotency_key
     order by r.ordinal;
end
$$;

-- Name: executions_write(penstock.job_request[], penstock.playbook_target[], jsonb, penstock.execution_parent); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.executions_write(p_rows penstock.job_request[], p_targets penstock.playbook_target[], p_requests jsonb, p_parent penstock.execution_parent) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_single penstock.job_request[] := p_rows;
  v_steps penstock.step_start[] := '{}';
begin
  if (p_parent).job_id is not null or exists (select from unnest(p_targets) t where not t.is_single) then
    v_single := array(select r from unnest(p_rows) r join unnest(p_targets) t on t.ref = r.playbook_ref
                       where t.is_single and (p_parent).job_id is null order by r.ordinal);
    insert into penstock.job_workflow (
      execution_id, started_at, playbook_ref, open, priority, pool, source_ref, payload_ref, correlation_id, causation_event_id,
      causation_depth, trace, actor, idempotency_key, parent_job, parent_execution, depth)
    select r.job_id, now(), r.playbook_ref, 1, r.priority, p_requests -> (r.ordinal - 1) ->> 'pool',
           'penstock://job/' || (p_parent).job_id, r.payload_ref, r.correlation_id, r.causation_event_id, r.causation_depth, r.trace,
           r.actor, r.idempotency_key,
           case when (p_parent).waits then (p_parent).job_id end, (p_parent).execution_id, coalesce((p_parent).depth + 1, 0)
      from unnest(p_rows) r join unnest(p_targets) t on t.ref = r.playbook_ref
     where not t.is_single or (p_parent).job_id is not null;
    v_steps := array(
      select row(r.job_id, s.step_id, 1, 0, r.job_id, null, null, null, null, r.process_after, false)::penstock.step_start
        from unnest(p_rows) r
        join unnest(p_targets) t on t.ref = r.playbook_ref
        join penstock.playbook_step s on s.path = t.path and s.version = split_part(t.ref, '@', 2)::integer and s.is_start
       where not t.is_single or (p_parent).job_id is not null
       order by r.ordinal);
  end if;
  if cardinality(v_steps) > 0 then
    perform penstock.steps_start(v_steps);
  end if;
  if cardinality(v_single) > 0 then
    perform penstock.job_insert(v_single, true);
    update penstock.job_queue q set step_id = t.step_id
      from unnest(v_single) r join unnest(p_targets) t on t.ref = r.playbook_ref
     where t.step_id is not null and q.job_id = r.job_id;
  end if;
  insert into penstock.execution_input (execution_id, input)
  select r.job_id, p_requests -> (r.ordinal - 1) -> 'payload' from unnest(p_rows) r where r.payload_ref is not null;
end
$$;

-- Name: executor_checked(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.executor_checked(p_executor_id text) RETURNS penstock.executor
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_executor penstock.executor;
begin
  select * into v_executor from penstock.executor e where e.executor_id = p_executor_id and e.deregistered_at is null;
  if not found then
    raise exception using errcode = 'PS001', message = format('executor %L is not registered', p_executor_id),
      hint = 'Register it with fn_executor_register, or: penstock executor register ID --kind PG_worker';
  end if;
  perform penstock.actor_checked('agent:' || p_executor_id);
  return v_executor;
end
$$;

-- Name: executor_kind_check(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.executor_kind_check(p_executor_kind text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_executor_kind is null or p_executor_kind not in
     ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter') then
    raise exception using errcode = 'PS002', message = format('%L is not an executor kind', p_executor_kind),
      hint = 'One of DOT, Agent, Hermes, Codex, PG_worker, external_worker, future_Kestra_adapter. '
             'MOT emits job graphs and never executes.';
  end if;
end
$$;

-- Name: failures_handled(penstock.step_end[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.failures_handled(p_ends penstock.step_end[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  with closed as (
    update penstock.job_dead_letter d
       set resolved_at = now(), resolved_by = 'system:playbook', resolution = 'on_error'
      from unnest(p_ends) e where e.how <> 'stuck' and d.job_id = e.job_id and d.resolved_at is null
    returning d.job_id, d.error, d.reason
  )
  insert into penstock.job_result (job_id, result)
  select c.job_id, jsonb_build_object('error', coalesce(c.error, jsonb_build_object('type', c.reason))) from closed c
  on conflict do nothing;
end
$$;

-- Name: family_moved(bigint[], text, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.family_moved(p_family bigint[], p_action text, p_actor penstock.actor_ref) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_one bigint;
  v_more bigint[];
begin
  for v_one in
    select w.execution_id from penstock.job_workflow w
     where w.execution_id = any (p_family)
       and w.status = any (case p_action when 'cancel' then array['running', 'paused', 'cancelling'] when 'pause' then array['running']
                                         else array['paused'] end)
     order by w.execution_id
  loop
    perform penstock.happened(v_one, 'execution_' || p_action, p_actor);
    case p_action
      when 'cancel' then perform penstock.execution_cancelled(v_one);
      when 'pause' then perform penstock.execution_paused(v_one);
      else perform penstock.execution_resumed(v_one);
    end case;
  end loop;
  -- a step that was starting a child when we came is through now, because we hold its job
  v_more := array(select w.execution_id from penstock.job_workflow w
                   where w.parent_execution = any (p_family) and w.parent_job is not null and w.finished_at is null
                     and w.execution_id <> all (p_family));
  if v_more <> '{}' then
    perform penstock.family_moved(penstock.workflow_family(v_more), p_action, p_actor);
  end if;
end
$$;

-- Name: fn_actor_binding_set(text, text, boolean, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_actor_binding_set(p_actor_ref text, p_db_role text, p_bound boolean DEFAULT true, p_actor text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if not penstock.actor_is_wellformed(p_actor_ref) or p_actor_ref ~ '^(consumer|system):' then
    raise exception using errcode = 'PS004', message = format('%L cannot be bound to a role', p_actor_ref),
      hint = 'An actor is role:, agency:, user: or agent: and a name without spaces.';
  end if;
  if not exists (select from pg_roles r where r.rolname = p_db_role) then
    raise exception using errcode = 'PS011', message = format('database role %L does not exist', p_db_role),
      hint = format('Name one that does, such as dot_executor, or have a superuser run: create role %I', p_db_role);
  end if;
  if p_bound then
    insert into penstock.actor_binding (actor_ref, db_role, bound_by) values (p_actor_ref, p_db_role, v_actor) on conflict do nothing;
  else
    delete from penstock.actor_binding b where b.actor_ref = p_actor_ref and b.db_role = p_db_role;
  end if;
end
$$;

-- Name: fn_catalog_register(text, text, jsonb, text, text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_catalog_register(p_path text, p_kind text, p_content jsonb, p_source text, p_actor text DEFAULT NULL::text, p_graph jsonb DEFAULT NULL::jsonb) RETURNS TABLE(version integer, created boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

-- Name: fn_config_set(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_config_set(p_key text, p_value text, p_actor text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_accepts record;
  v_before text := penstock.config_text(p_key, null);
begin
  select * into v_accepts from penstock.config_accepts(p_key);
  if v_accepts.pattern is null then
    raise exception using errcode = 'PS015', message = format('%L is not a setting', p_key), hint = 'penstock config list shows them.';
  end if;
  if p_value is null then
    if p_key !~ '^queue\.(retry\.max_attempts|lease_ms|timeout_ms)\.' or p_key ~ '\.default$' then
      raise exception using errcode = 'PS015', message = format('%s cannot be unset', p_key),
        hint = format('Give it another value: %s.', v_accepts.words);
    end if;
    delete from penstock.dot_config c where c.key = p_key;
  elsif p_value !~ v_accepts.pattern then
    raise exception using errcode = 'PS015', message = format('%s cannot be %L', p_key, p_value),
      hint = format('It takes %s.', v_accepts.words);
  else
    insert into penstock.dot_config (key, value, updated_by) values (p_key, p_value, v_actor)
    on conflict (key) do update set value = excluded.value, updated_at = now(), updated_by = excluded.updated_by;
  end if;
  if p_key = 'queue.forbidden_keys' then
    -- a live route keeps columns by name, and is not looked at row by row
    perform penstock.sql_route_names_check(r) from penstock.iu_sql_event_route r where r.enabled order by r.route_code;
  end if;
  return v_before;
end
$_$;

-- Name: fn_consumer_dispatch(uuid); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_consumer_dispatch(p_event_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
declare
  v_event penstock.event_outbox;
begin
  if penstock.config_text('queue.consumer_dispatch.enabled', 'true') <> 'true' then
    return jsonb_build_object('skipped', 'queue.consumer_dispatch.enabled is not true');
  end if;
  select * into v_event from penstock.event_outbox e where e.event_id = p_event_id;
  if v_event.event_id is null then
    raise exception using errcode = 'PS011', message = format('there is no event %s', p_event_id);
  end if;
  return penstock.consumers_dispatch_apart(array[v_event]);
end
$$;

-- Name: fn_consumer_dispatch_run(text, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_consumer_dispatch_run(p_cursor text DEFAULT 'consumers'::text, p_limit integer DEFAULT 1000) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $_$
declare
  v_cursor penstock.event_cursor;
  v_events penstock.event_outbox[];
  v_report jsonb;
begin
  if p_limit is null or p_limit not between 1 and 50000 then
    raise exception using errcode = 'PS011', message = format('limit %s is outside 1 … 50000', p_limit);
  end if;
  if p_cursor ~ '^(route:|broadcasts$|audit$)' then
    raise exception using errcode = 'PS011', message = format('cursor %s is not one of consumers', p_cursor);
  end if;
  if penstock.config_text('queue.consumer_dispatch.enabled', 'true') <> 'true' then
    return jsonb_build_object('skipped', 'queue.consumer_dispatch.enabled is not true');
  end if;
  v_cursor := penstock.cursor_taken(p_cursor);
  if v_cursor.cursor_name is null then
    return jsonb_build_object('skipped', 'another run holds the cursor');
  end if;
  if v_cursor.goal_tick_id is null then
    return '{"events": 0, "jobs": 0, "dry_run": 0, "duplicates": 0, "failed": 0, "more": false}'::jsonb;
  end if;
  v_events := penstock.cursor_page(v_cursor, p_limit);
  v_report := penstock.consumers_dispatch_apart(v_events);
  return jsonb_build_object('events', cardinality(v_events)) || v_report
         || jsonb_build_object('more', penstock.cursor_moved(v_cursor, v_events, p_limit));
end
$_$;

-- Name: fn_consumer_register(text, text, text, text, text, text, text, text, integer, text, numeric, boolean, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_consumer_register(p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_job_kind text, p_executor text, p_idempotency_key_template text, p_payload_ref_template text DEFAULT NULL::text, p_priority integer DEFAULT 0, p_registered_by text DEFAULT NULL::text, p_rate_per_s numeric DEFAULT NULL::numeric, p_fail_closed boolean DEFAULT true, p_notes text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_registered_by);
begin
  perform penstock.consumer_check(p_consumer_id, p_event_domain, p_event_type, p_event_stream, p_priority, p_rate_per_s);
  perform penstock.job_target_check(p_job_kind, p_executor, v_actor);
  perform penstock.template_format(p_payload_ref_template);
  if coalesce(penstock.template_format(p_idempotency_key_template), '') !~ '[$]s' then
    raise exception using errcode = 'PS025', message = format('idempotency key template %L is the same for every event',
      p_idempotency_key_template), hint = 'Use a field of the event, such as {event_id}.';
  end if;
  insert into penstock.consumer_registry as c (consumer_id, event_domain, event_type, event_stream, job_kind, executor,
    idempotency_key_template, payload_ref_template, fail_closed, priority, rate_per_s, notes, registered_by)
  values (p_consumer_id, p_event_domain, p_event_type, p_event_stream, p_job_kind, p_executor, p_idempotency_key_template,
          p_payload_ref_template, coalesce(p_fail_closed, true), coalesce(p_priority, 0), p_rate_per_s, p_notes, v_actor)
  on conflict (consumer_id) do update set
    event_domain = excluded.event_domain, event_type = excluded.event_type, event_stream = excluded.event_stream,
    job_kind = excluded.job_kind, executor = excluded.executor, idempotency_key_template = excluded.idempotency_key_template,
    payload_ref_template = excluded.payload_ref_template, fail_closed = excluded.fail_closed, priority = excluded.priority,
    rate_per_s = excluded.rate_per_s, rate_at = null, notes = excluded.notes, registered_by = excluded.registered_by,
    registered_at = now(), enabled = false, dry_run = true, reviewed_by = null, reviewed_at = null, live_at = null
  where (c.event_domain, c.event_type, c.event_stream, c.job_kind, c.executor, c.idempotency_key_template, c.payload_ref_template,
         c.fail_closed, c.priority, c.rate_per_s)
    is distinct from (excluded.event_domain, excluded.event_type, excluded.event_stream, excluded.job_kind, excluded.executor,
         excluded.idempotency_key_template, excluded.payload_ref_template, excluded.fail_closed, excluded.priority, excluded.rate_per_s);
end
$_$;

-- Name: fn_consumer_set(text, boolean, boolean, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_consumer_set(p_consumer_id text, p_enabled boolean DEFAULT NULL::boolean, p_dry_run boolean DEFAULT NULL::boolean, p_reviewed_by text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_consumer penstock.consumer_registry;
  v_is_live boolean;
begin
  select * into v_consumer from penstock.consumer_registry c where c.consumer_id = p_consumer_id for update;
  if v_consumer.consumer_id is null then
    raise exception using errcode = 'PS011', message = format('there is no consumer %L', p_consumer_id);
  end if;
  if p_reviewed_by is not null then
    v_consumer.reviewed_by := penstock.actor_checked(p_reviewed_by);
    v_consumer.reviewed_at := now();
    perform penstock.review_check('consumer ' || p_consumer_id, exists (
      select from penstock.consumer_dispatch d where d.consumer_id = p_consumer_id and d.outcome = 'dry_run'
         and d.dispatched_at >= v_consumer.registered_at));
  end if;
  v_consumer.enabled := coalesce(p_enabled, v_consumer.enabled);
  v_consumer.dry_run := coalesce(p_dry_run, v_consumer.dry_run);
  v_is_live := v_consumer.enabled and not v_consumer.dry_run;
  perform penstock.live_check('consumer ' || p_consumer_id, v_is_live, v_consumer.reviewed_at,
    format('penstock consumer review %s', p_consumer_id));
  update penstock.consumer_registry c
     set enabled = v_consumer.enabled, dry_run = v_consumer.dry_run, reviewed_by = v_consumer.reviewed_by,
         reviewed_at = v_consumer.reviewed_at, live_at = case when v_is_live then coalesce(c.live_at, now()) end
   where c.consumer_id = p_consumer_id;
end
$$;

-- Name: fn_cut_verified(bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_cut_verified(p_staging_ids bigint[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return penstock.staging_move(p_staging_ids, 'cut', 'cut_verified');
end
$$;

-- Name: fn_cut_write(bigint[], bigint[], integer[], bytea[], text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_cut_write(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[], p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_held bigint[];
  v_ids bigint[];
  v_diff penstock.piece_diff[];
  v_said jsonb;
begin
  select l.held, l.newest into v_held, v_ids from penstock.cut_locked(p_staging_ids) l;
  select coalesce(array_agg(d), '{}') into v_diff from penstock.cut_diff(v_ids, p_of, p_positions, p_sha256) d;
  if exists (select from unnest(v_diff) d where d.sha256 is null or length(d.sha256) <> 32) then
    raise exception using errcode = 'PS011', message = format('piece %s has no hash', (select min(d.address) from unnest(v_diff) d
      where d.sha256 is null or length(d.sha256) <> 32)), hint = 'Every marked piece needs the sha256 of its bytes.';
  end if;
  perform penstock.cut_apply(v_diff);
  update penstock.iu_document t
     set staging_id = r.staging_id, run = r.run, sha256 = r.sha256, size_bytes = r.size_bytes, cut_at = now(),
         pieces = coalesce(n.pieces, 0), revision = t.revision + coalesce(n.is_new, (t.staging_id is null)::integer)
    from penstock.iu_staging_record r
    left join (select d.staging_id, count(*) filter (where not d.is_deprecated) as pieces,
                      bool_or(d.is_added or d.is_changed or d.is_moved or d.is_deprecated)::integer as is_new
                 from unnest(v_diff) d group by d.staging_id) n on n.staging_id = r.staging_id
   where r.staging_id = any (v_ids) and t.document = r.document;
  v_said := penstock.cut_tell(v_diff, v_actor,
    (select min(r.run) from penstock.iu_staging_record r where r.staging_id = any (v_ids)));
  return v_said || jsonb_build_object('documents', cardinality(v_ids), 'superseded', cardinality(v_held) - cardinality(v_ids),
    'pieces', (select count(*) from unnest(v_diff) d where not d.is_deprecated));
end
$$;

-- Name: fn_dead_letter_replay(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_dead_letter_replay(p_id text, p_actor text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_id like 'ingest-%' then
    return 'job-' || penstock.ingest_replay(penstock.dead_letter_number(p_id, 'ingest'), penstock.actor_checked(p_actor));
  end if;
  if p_id like 'event-%' then
    return penstock.consumer_replay(penstock.dead_letter_number(p_id, 'event'), penstock.actor_checked(p_actor));
  end if;
  if p_id like 'route-%' then
    return penstock.route_replay(penstock.dead_letter_number(p_id, 'route'), p_actor);
  end if;
  return 'job-' || penstock.fn_job_dead_letter_replay(penstock.dead_letter_number(p_id, 'job'), p_actor);
end
$$;

-- Name: fn_dead_letter_resolve(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_dead_letter_resolve(p_id text, p_actor text DEFAULT NULL::text, p_reason text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_resolution text := 'discarded: ' || left(p_reason, 500);
  v_number bigint;
begin
  if coalesce(trim(p_reason), '') = '' then
    raise exception using errcode = 'PS011', message = format('dead letter %s: say why it is discarded', p_id);
  end if;
  if p_id like 'ingest-%' then
    v_number := (penstock.ingest_dead_letter_locked(penstock.dead_letter_number(p_id, 'ingest'))).dead_letter_id;
    update penstock.ingest_dead_letter d set resolved_at = now(), resolved_by = v_actor, resolution = v_resolution
     where d.dead_letter_id = v_number;
  elsif p_id like 'event-%' then
    v_number := (penstock.consumer_dead_letter_locked(penstock.dead_letter_number(p_id, 'event'))).dead_letter_id;
    update penstock.consumer_dead_letter d set resolved_at = now(), resolved_by = v_actor, resolution = v_resolution
     where d.dead_letter_id = v_number;
  elsif p_id like 'route-%' then
    v_number := (penstock.route_dead_letter_locked(penstock.dead_letter_number(p_id, 'route'))).dead_letter_id;
    update penstock.iu_route_dead_letter d set resolved_at = now(), resolved_by = v_actor, resolution = v_resolution
     where d.dead_letter_id = v_number;
  else
    v_number := (penstock.dead_letter_locked(penstock.dead_letter_number(p_id, 'job'))).dead_letter_id;
    update penstock.job_dead_letter d set resolved_at = now(), resolved_by = v_actor, resolution = v_resolution
     where d.dead_letter_id = v_number;
  end if;
end
$$;

-- Name: fn_drain_done(text, text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_drain_done(p_place text, p_messages text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  delete from penstock.once_key k
   where k.scope = 'drain:' || p_place and k.key = any (p_messages)
     and exists (select from penstock.job_outcome o
                  where o.job_id = split_part(k.ref, ':', 1)::bigint and o.lease_token = split_part(k.ref, ':', 2)::bigint
                    and o.status = 'succeeded')
$$;

-- Name: fn_drain_take(bigint, bigint, text, text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_drain_take(p_job_id bigint, p_token bigint, p_place text, p_messages text[]) RETURNS TABLE(message text, standing text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_rules bigint[] := penstock.caller_rules();
  v_scope text := 'drain:' || p_place;
  v_ref text := p_job_id || ':' || p_token;
  v_expires timestamptz := now() + penstock.config_text('queue.once_key.ttl_s.job', '2592000')::bigint * interval '1 second';
begin
  if cardinality(p_messages) > 1000 or length(p_place) > 1000 or exists (select from unnest(p_messages) m where length(m) > 1000) then
    raise exception using errcode = 'PS011', message = 'at most 1,000 messages are taken at once; a name has 1,000 characters at most';
  end if;
  perform from penstock.job_queue q
   where q.job_id = p_job_id and q.lease_token = p_token and q.status = 'running' and (v_rules is null or q.rule = any (v_rules))
     for share;
  if not found then
    raise exception using errcode = 'PS009', message = format('job %s is not held under this token: it takes no messages', p_job_id);
  end if;
  insert into penstock.once_key (scope, key, ref, expires_at)
  select v_scope, m, v_ref, v_expires from (select distinct m from unnest(p_messages) m where m is not null) x order by m
  on conflict do nothing;
  perform from penstock.once_key k where k.scope = v_scope and k.key = any (p_messages) order by k.key for update;
  -- a NEW statement: whoever has them now took them before its snapshot. The token tells attempts apart: what one has polled and
  -- lost is in no result, though the next one succeeds
  return query
  with asked as (
    select k.key,
           case when k.ref = v_ref or k.expires_at <= now() then null
                when exists (select from penstock.job_outcome o
                              where o.job_id = h.job_id and o.lease_token = h.token and o.status = 'succeeded') then 'kept'
                when exists (select from penstock.job_queue q where q.job_id = h.job_id and q.lease_token = h.token) then 'held'
           end as stands
      from penstock.once_key k
     cross join lateral (select split_part(k.ref, ':', 1)::bigint as job_id, split_part(k.ref, ':', 2)::bigint as token) h
     where k.scope = v_scope and k.key = any (p_messages)
  ), taken as (
    update penstock.once_key k set ref = v_ref, expires_at = v_expires
      from asked a where k.scope = v_scope and k.key = a.key and a.stands is null and k.ref <> v_ref
  )
  select a.key, a.stands from asked a where a.stands is not null;
end
$$;

-- Name: fn_event_domain_register(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_event_domain_register(p_event_domain text, p_actor text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if p_event_domain is null or p_event_domain !~ '^[a-z][a-z0-9_]{0,39}$' or p_event_domain = 'any' then
    raise exception using errcode = 'PS011', message = format('%L cannot be an event domain', p_event_domain),
      hint = 'Use lower-case letters, digits and _, at most 40, beginning with a letter; "any" is taken.';
  end if;
  insert into penstock.event_domain (event_domain, registered_by) values (p_event_domain, v_actor)
  on conflict do nothing;
  execute format('create unlogged sequence if not exists penstock.%I', 'wake_' || p_event_domain);
end
$_$;

-- Name: fn_event_inbox(text, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer DEFAULT 50) RETURNS TABLE(event_id uuid, created_at timestamp with time zone, event_domain text, event_type text, event_stream text, subject_table text, subject_ref text, payload jsonb, actor text, correlation_id text, causation_event_id uuid, rule text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
declare
  v_recipient penstock.actor_ref := penstock.actor_checked(p_recipient_ref);
  v_types text[] := penstock.event_types_for(v_recipient);
  v_is_resolved boolean := penstock.config_text('queue.subscription_resolution.enabled', 'true') = 'true';
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'PS011', message = format('limit %s is outside 1 … 1000', p_limit);
  end if;
  if not exists (select from penstock.event_subscription s where s.recipient_ref = v_recipient) then
    return;
  end if;
  return query
    select e.event_id, e.created_at, e.event_domain, e.event_type, e.event_stream, e.subject_table, e.subject_ref, e.payload,
           e.actor::text, e.correlation_id, e.causation_event_id, r.rule
      -- who gets an event costs most to say: first what is cheap. An offset keeps it apart from what follows
      from (select o.* from penstock.event_outbox o
             where o.created_at > now() - interval '30 days' and o.event_domain || '.' || o.event_type = any (v_types)
               and not exists (select from penstock.event_read d where d.recipient_ref = v_recipient and d.event_id = o.event_id)
               -- a row of its own that may give it, or nobody's that certainly does
               and (not v_is_resolved or coalesce((
                 select bool_or(s.recipient_ref = v_recipient) or bool_and(s.recipient_mutes)
                   from (select s.*, exists (select from penstock.event_subscription m where m.recipient_ref = s.recipient_ref
                                                and m.event_domain = s.event_domain and m.mute) as recipient_mutes
                           from penstock.event_subscription s where not s.mute) s
                  where s.event_domain = o.event_domain and coalesce(s.event_type, o.event_type) = o.event_type
                    and coalesce(s.event_stream, o.event_stream) = o.event_stream
                    and (s.scope_subject_table is null or s.scope_subject_table = o.subject_table)
                    and coalesce(o.payload, '{}') @> s.scope_filter), true))
             order by o.tx_id desc, o.seq desc offset 0) e
     cross join lateral (select x.rule from penstock.event_recipients(e) x where x.recipient_ref = v_recipient) r
     limit p_limit;
end
$$;

-- Name: fn_event_mark_read(text, uuid[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_recipient penstock.actor_ref := penstock.actor_checked(p_recipient_ref);
  v_count integer;
begin
  perform penstock.partition_ensure('event_read', now());
  insert into penstock.event_read (recipient_ref, event_id)
  select v_recipient, e.event_id from penstock.event_outbox e
   where e.event_id = any (p_event_ids)
     and exists (select from penstock.event_recipients(e) r where r.recipient_ref = v_recipient)
     and not exists (select from penstock.event_read d where d.recipient_ref = v_recipient and d.event_id = e.event_id);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Name: fn_event_recipients(uuid); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_event_recipients(p_event_id uuid) RETURNS TABLE(recipient_ref text, rule text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_event penstock.event_outbox;
begin
  select * into v_event from penstock.event_outbox e where e.event_id = p_event_id;
  if v_event.event_id is null then
    raise exception using errcode = 'PS011', message = format('there is no event %s', p_event_id);
  end if;
  return query select r.recipient_ref::text, r.rule from penstock.event_recipients(v_event) r order by 1;
end
$$;

-- Name: fn_event_subscription_set(text, text, text, text, boolean, text, text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_event_subscription_set(p_recipient_ref text, p_event_domain text, p_event_type text DEFAULT NULL::text, p_event_stream text DEFAULT NULL::text, p_mute boolean DEFAULT false, p_actor text DEFAULT NULL::text, p_scope_subject_table text DEFAULT NULL::text, p_scope_filter jsonb DEFAULT '{}'::jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if not penstock.actor_is_wellformed(p_recipient_ref) or p_recipient_ref !~ '^(role|agency|user|agent):' then
    raise exception using errcode = 'PS004', message = format('%L cannot be a recipient', p_recipient_ref),
      hint = 'A recipient is role:, agency:, user: or agent: and a name without spaces.';
  end if;
  if not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = format('An operator makes it with: select penstock.fn_event_domain_register(%L)', p_event_domain);
  end if;
  if p_event_type is not null then
    perform penstock.event_type_checked(p_event_domain, p_event_type, p_event_stream);
  end if;
  if jsonb_typeof(coalesce(p_scope_filter, '{}')) <> 'object' then
    raise exception using errcode = 'PS011', message = 'scope_filter is an object that the payload has to hold';
  end if;
  insert into penstock.event_subscription as s (recipient_ref, event_domain, event_type, event_stream, scope_subject_table, scope_filter,
    mute, set_by)
  values (p_recipient_ref, p_event_domain, p_event_type, p_event_stream, p_scope_subject_table, coalesce(p_scope_filter, '{}'),
          coalesce(p_mute, false), v_actor)
  on conflict (recipient_ref, event_domain, event_type, event_stream, scope_subject_table, scope_filter)
  do update set mute = excluded.mute, set_by = excluded.set_by, set_at = now();
end
$$;

-- Name: fn_event_type_register(text, text, text, text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_event_type_register(p_event_domain text, p_event_type text, p_event_stream text, p_actor text DEFAULT NULL::text, p_payload_contract jsonb DEFAULT NULL::jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = format('An operator makes it with: select penstock.fn_event_domain_register(%L)', p_event_domain);
  end if;
  if coalesce(p_event_type, '') !~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$'
     or coalesce(p_event_stream, '') !~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$' then
    raise exception using errcode = 'PS011', message = format('%L in stream %L: an event type and a stream are a letter, '
      'then letters, digits and _ . : -, at most 100', p_event_type, p_event_stream);
  end if;
  if penstock.keys_beyond(p_payload_contract, array['keep_refs', 'forbid_keys']) then
    raise exception using errcode = 'PS011', message = format('event type %s.%s: payload_contract is an object with keep_refs and '
      'forbid_keys, each a list of names', p_event_domain, p_event_type);
  end if;
  insert into penstock.event_type_registry (event_domain, event_type, event_stream, payload_contract, registered_by)
  values (p_event_domain, p_event_type, p_event_stream, p_payload_contract, v_actor)
  on conflict (event_domain, event_type) do update
    set event_stream = excluded.event_stream, payload_contract = excluded.payload_contract, registered_by = excluded.registered_by;
  perform penstock.event_stream_moved(p_event_domain, p_event_type, p_event_stream);
  perform penstock.sql_route_names_check(r) from penstock.iu_sql_event_route r
    where r.enabled and r.target_event_domain = p_event_domain and r.target_event_type = p_event_type order by r.route_code;
end
$_$;

-- Name: fn_execute_batch(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_execute_batch(p_requests jsonb) RETURNS TABLE(ordinal integer, execution_id bigint, status text, error text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_targets penstock.playbook_target[];
  v_request record;
  v_good integer[] := '{}';
begin
  if jsonb_typeof(p_requests) is distinct from 'array' or jsonb_array_length(p_requests) not between 1 and 1000 then
    raise exception using errcode = 'PS011', message = 'p_requests is not an array of 1 to 1,000 objects';
  end if;
  begin
    return query select e.ordinal, e.execution_id, case when e.created then 'started' else 'known' end, null::text
                   from penstock.executions_start(p_requests, null) e;
    return;
  exception when others then
    if penstock.error_is_passing(sqlstate) or sqlstate = '55P03' then
      raise;
    end if;
  end;
  -- each alone says which it was; the others are started together again, so that their keys are taken in order
  v_targets := penstock.playbook_targets(array(select distinct r ->> 'playbook' from jsonb_array_elements(p_requests) r));
  for v_request in select r.value, r.ordinality::integer as ordinal from jsonb_array_elements(p_requests) with ordinality r loop
    begin
      perform penstock.execution_rows(jsonb_build_array(v_request.value), v_targets, null);
      v_good := v_good || v_request.ordinal;
    exception when others then
      if penstock.error_is_passing(sqlstate) or sqlstate = '55P03' then
        raise;
      end if;
      return query select v_request.ordinal, null::bigint, 'refused', format('%s: %s', sqlstate, sqlerrm);
    end;
  end loop;
  if cardinality(v_good) > 0 then
    return query select v_good[e.ordinal], e.execution_id, case when e.created then 'started' else 'known' end, null::text
                   from penstock.executions_start((select jsonb_agg(p_requests -> (g - 1) order by g) from unnest(v_good) g), null) e;
  end if;
end
$$;

-- Name: fn_execution_move(bigint, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_family bigint[] := penstock.workflow_family(array[p_execution_id]);
  v_workflow penstock.job_workflow;
begin
  if p_action is null or p_action not in ('cancel', 'pause', 'resume', 'retry') then
    raise exception using errcode = 'PS011', message = format('%L is no move of an execution: cancel, pause, resume or retry', p_action);
  end if;
  select * into v_workflow from penstock.job_workflow w where w.execution_id = p_execution_id;
  if not found then
    return penstock.single_moved(p_execution_id, p_action, p_actor);
  end if;
  perform penstock.actor_checked(v_workflow.actor);
  if v_workflow.status <> all (case p_action when 'cancel' then array['running', 'paused', 'cancelling'] when 'pause' then array['running']
                                             when 'resume' then array['paused'] else array['failed'] end) then
    raise exception using errcode = 'PS009',
      message = format('execution %s is %s: it cannot %s', p_execution_id, v_workflow.status,
                       case p_action when 'cancel' then 'be cancelled' when 'retry' then 'be retried' else p_action end);
  end if;
  if p_action = 'retry' then
    perform penstock.happened(p_execution_id, 'execution_retry', v_actor);
    perform penstock.execution_retried(p_execution_id, null, v_actor);
  else
    perform penstock.family_moved(v_family, p_action, v_actor);
  end if;
  return (select w.status from penstock.job_workflow w where w.execution_id = p_execution_id);
end
$$;

-- Name: fn_executor_deregister(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_executor_deregister(p_executor_id text, p_actor text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform penstock.actor_checked(p_actor);
  update penstock.executor e set deregistered_at = now() where e.executor_id = p_executor_id and e.deregistered_at is null;
  if not found then
    raise exception using errcode = 'PS001', message = format('executor %L is not registered', p_executor_id),
      hint = 'penstock executor list shows those that are.';
  end if;
  update penstock.job_subscription s set enabled = false where s.executor_id = p_executor_id;
  delete from penstock.queue_heartbeat h where h.executor_id = p_executor_id;
end
$$;

-- Name: fn_executor_grant_set(text, text, text, boolean, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_executor_grant_set(p_actor text, p_executor_kind text, p_job_kind text DEFAULT NULL::text, p_granted boolean DEFAULT true, p_granted_by text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_by penstock.actor_ref := penstock.actor_checked(p_granted_by);
begin
  perform penstock.executor_kind_check(p_executor_kind);
  if not penstock.actor_is_wellformed(p_actor) then
    raise exception using errcode = 'PS004', message = format('%L is not an actor', p_actor);
  end if;
  if p_granted then
    insert into penstock.executor_grant (actor, executor_kind, job_kind, granted_by)
    values (p_actor, p_executor_kind, p_job_kind, v_by) on conflict do nothing;
  else
    delete from penstock.executor_grant g
     where g.actor = p_actor and g.executor_kind = p_executor_kind and g.job_kind is not distinct from p_job_kind;
  end if;
end
$$;

-- Name: fn_executor_register(text, text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_executor_register(p_executor_id text, p_executor_kind text, p_registered_by text DEFAULT NULL::text, p_db_role text DEFAULT 'dot_executor'::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_registered_by);
  v_kind text;
begin
  perform penstock.executor_kind_check(p_executor_kind);
  if coalesce(p_executor_id, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be an executor id', p_executor_id),
      hint = 'Use letters, digits and _ . -, at most 100.';
  end if;
  insert into penstock.executor as e (executor_id, executor_kind, registered_by) values (p_executor_id, p_executor_kind, v_actor)
  on conflict (executor_id) do update set deregistered_at = null
  returning e.executor_kind into v_kind;
  if v_kind <> p_executor_kind then
    raise exception using errcode = 'PS002',
      message = format('executor %s is registered as %s, not as %s', p_executor_id, v_kind, p_executor_kind);
  end if;
  perform penstock.fn_actor_binding_set('agent:' || p_executor_id, p_db_role, true, p_registered_by);
end
$_$;

-- Name: fn_ingest_commit(text, bigint, jsonb, jsonb, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_ingest_commit(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_expected jsonb, p_lane integer DEFAULT 0) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET work_mem TO '64MB'
    AS $$
declare
  v_held penstock.subscription_runtime;
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
  v_attempts text[] := array(select jsonb_object_keys(p_expected));
  v_content jsonb;
  v_verdicts penstock.ingest_verdict[];
  v_report jsonb;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  if cardinality(v_attempts) = 0 then
    perform penstock.ingest_move(p_subscription, p_positions);
    perform penstock.runtime_renewed(p_subscription);
    return '{"received": 0, "executions": 0, "deduplicated": 0, "dead_lettered": 0, "replays": 0}'::jsonb;
  end if;
  perform penstock.ingest_expected_check(v_stage, p_expected);
  select c.content into v_content from penstock.catalog c where c.path = p_subscription and c.version = v_held.version;
  v_verdicts := penstock.ingest_judge(p_subscription, v_stage, v_attempts, v_content, p_positions);
  perform penstock.ingest_dead(p_subscription, v_stage, v_verdicts);
  perform penstock.ingest_deduplicated(p_subscription, v_stage, v_verdicts);
  perform penstock.ingest_execute(p_subscription, v_held.version, v_stage, v_attempts, v_content, v_verdicts);
  perform penstock.ingest_move(p_subscription, p_positions);
  select jsonb_build_object('received', e.n, 'executions', e.n - cardinality(v_verdicts),
           'deduplicated', count(*) filter (where v.verdict = 'deduplicated'),
           'dead_lettered', count(*) filter (where v.verdict = 'dead'), 'replays', count(*) filter (where v.verdict = 'replay'))
    into v_report
    from (select coalesce(sum(x.value::bigint), 0) from jsonb_each_text(p_expected) x) e(n) left join unnest(v_verdicts) v on true
   group by e.n;
  perform penstock.runtime_counted(p_subscription, v_report);
  perform penstock.runtime_renewed(p_subscription);
  return v_report;
end
$$;

-- Name: fn_ingest_position_set(text, bigint, jsonb, text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_ingest_position_set(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_reason text, p_detail jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_held penstock.subscription_runtime;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  delete from penstock.ingest_position p
   where p.path = p_subscription and not coalesce(p_positions #>> array[p.part, 'identity'] = p.identity, false);
  insert into penstock.ingest_position as p (path, part, identity, next_offset)
  select p_subscription, x.key, x.value ->> 'identity', (x.value ->> 'next')::bigint from jsonb_each(p_positions) x
  on conflict (path, part) do update set next_offset = excluded.next_offset,
    floor_offset = least(p.floor_offset, excluded.next_offset - 1), moved_at = now();
  delete from penstock.once_key k
   using jsonb_each(p_positions) x
   where k.scope = 'message:' || p_subscription
     and k.key between format('%s:%s:', x.key, x.value ->> 'identity') || lpad(x.value ->> 'next', 20, '0')
                   and format('%s:%s:', x.key, x.value ->> 'identity') || repeat('9', 20);
  perform penstock.subscription_event(p_subscription, 'data_loss', 'system:runtime', p_detail || jsonb_build_object('reason', p_reason));
end
$$;

-- Name: fn_ingest_room(text, bigint, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_ingest_room(p_subscription text, p_runtime_token bigint, p_limit integer) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when r.token <> p_runtime_token or s.state <> 'ACTIVE' then -1
              else p_limit - (select count(*)::integer from (select from penstock.job_queue q where q.source = s.subscription_id
                                                              limit p_limit) l) end
    from penstock.subscription s join penstock.subscription_runtime r using (path) where s.path = p_subscription
$$;

-- Name: fn_ingest_stage_acks(text, bigint, integer, text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_ingest_stage_acks(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempts text[]) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_held penstock.subscription_runtime;
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  return query execute format('select s.ack from penstock.%I s where s.attempt = any($1) and s.ack is not null', v_stage)
    using p_attempts;
exception when undefined_table then
  return;
end
$_$;

-- Name: fn_ingest_stage_add(text, bigint, integer, text, json); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_ingest_stage_add(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_messages json) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_held penstock.subscription_runtime;
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
  v_count integer := case when json_typeof(p_messages) = 'array' then json_array_length(p_messages) end;
  v_before integer;
  v_prefix text;
  v_strange text;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  if v_count is null or v_count not between 1 and 1000 or length(p_attempt) not between 1 and 200 then
    raise exception using errcode = 'PS011', message = 'a chunk has a name of 1 to 200 characters, and 1 to 1,000 messages';
  end if;
  insert into penstock.ingest_chunk (stage, attempt, messages) values (v_stage, p_attempt, v_count) on conflict do nothing;
  if not found then
    select c.messages into v_before from penstock.ingest_chunk c where c.stage = v_stage and c.attempt = p_attempt;
    if v_before is distinct from v_count then
      raise exception using errcode = 'PS021', message = format('chunk %s was staged with %s messages before, and has %s now',
        p_attempt, coalesce(v_before::text, 'no'), v_count);
    end if;
    return v_count;
  end if;
  -- null where no lanes are made
  select c.path || ':' into v_prefix from penstock.catalog c
   where c.path = p_subscription and c.version = v_held.version and c.content #>> '{spec,lanes}' is not null;
  execute format($sql$
    with put as (
      insert into penstock.%I (attempt, part, source_offset, identity, message_id, published_at, message_key, body, attributes, playbook,
                               pool, dedup_key, trace, directives, fault, ack, lane, delivery_attempt)
      select $1, m.part, m.source_offset, m.identity, m.message_id, penstock.staged_time(m.published_at), decode(m.message_key, 'base64'),
             decode(m.body, 'base64'), m.attributes, m.playbook, m.pool, m.dedup_key, m.trace, m.directives, m.fault, m.ack,
             m.lane, m.delivery_attempt
        from json_to_recordset($2) m (
          part text, source_offset bigint, identity text, message_id text, published_at json, message_key text, body text,
          attributes text, playbook text, pool text, dedup_key text, trace text, directives text, fault text, ack text,
          lane text, delivery_attempt integer)
      returning lane)
    select p.lane from put p
     where p.lane is not null and (starts_with(p.lane, $3) and length(p.lane) <= 500) is not true limit 1$sql$, v_stage)
    into v_strange using p_attempt, p_messages, v_prefix;
  if v_strange is not null then
    raise exception using errcode = 'PS011', message = format('chunk %s: %L is no lane of subscription %s, which %s', p_attempt,
      left(v_strange, 100), p_subscription, case when v_prefix is null then 'makes no lanes' else 'begins each with its path' end);
  end if;
  return v_count;
exception
  when undefined_table then
    raise exception using errcode = 'PS021', message = format('the staging table %s is gone: nothing was staged', v_stage);
  when not_null_violation then
    raise exception using errcode = 'PS011', message = format('chunk %s: %s', p_attempt, sqlerrm);
end
$_$;

-- Name: fn_ingest_stage_clear(text, bigint, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_ingest_stage_clear(p_subscription text, p_runtime_token bigint, p_lane integer DEFAULT 0) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
declare
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
begin
  if v_stage is null then
    raise exception using errcode = 'PS017', message = format('subscription %s is not registered', coalesce(p_subscription, 'null')),
      hint = 'Register it: penstock subscription register FILE';
  end if;
  execute format('truncate penstock.%I', v_stage);
  delete from penstock.ingest_chunk c where c.stage = v_stage;
  delete from penstock.ingest_slice s where s.stage = v_stage;
  return true;
exception when lock_not_available or undefined_table then
  return false;
end
$$;

-- Name: fn_ingest_stage_open(text, bigint, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_ingest_stage_open(p_subscription text, p_runtime_token bigint, p_lane integer DEFAULT 0) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_held penstock.subscription_runtime;
  v_name text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
  v_old text;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  if to_regclass('penstock.' || v_name) is not null then
    return v_name;
  end if;
  for v_old in
    select c.relname from pg_class c
     where c.relnamespace = 'penstock'::regnamespace
       and c.relname ~ ('^' || substring(v_name from '^ingest_stage_[0-9]+_') || '[0-9]+_[01]$')
       and left(c.relname, -1) <> left(v_name, -1)
  loop
    perform penstock.stage_drop(v_old);
  end loop;
  execute format($sql$
    create unlogged table penstock.%I (
      job_id bigint not null default nextval('penstock.job_id_seq'),
      attempt text collate "C" not null,
      part text collate "C" not null,
      source_offset bigint not null,
      identity text collate "C",
      message_id text collate "C" not null,
      published_at timestamptz,
      message_key bytea,
      body bytea,
      attributes text not null,
      playbook text collate "C",
      pool text collate "C",
      dedup_key text collate "C",
      trace text,
      directives text,
      fault text,
      ack text,
      lane text collate "C",
      delivery_attempt integer
    ) with (autovacuum_enabled = off)$sql$, v_name);
  -- job ids come from the sequence, never from the pipeline
  execute format('grant insert (attempt, part, source_offset, identity, message_id, published_at, message_key, body, attributes, '
    'playbook, pool, dedup_key, trace, directives, fault, ack, lane, delivery_attempt), '
    'select (attempt, ack) on penstock.%I to penstock_pipeline', v_name);
  return v_name;
end
$_$;

-- Name: fn_ingest_stage_slice(text, bigint, integer, text, bigint, text, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_ingest_stage_slice(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_start bigint, p_slice text, p_whole bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  -- as JSON, in base64; PostgreSQL holds several copies of it at the last slice
  c_most constant bigint := 128 * 1024 * 1024;
  v_held penstock.subscription_runtime;
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
  v_end bigint := p_start + length(p_slice);
  v_text text;
  v_is_whole boolean;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  if (p_start >= 0 and v_end > p_start and v_end <= p_whole and p_whole <= c_most and length(p_attempt) between 1 and 200) is not true then
    raise exception using errcode = 'PS011',
      message = format('a slice has a name of 1 to 200 characters, and stands within a text of at most %s', c_most);
  end if;
  -- the last one again, because its answer got lost
  if exists (select from penstock.ingest_chunk c where c.stage = v_stage and c.attempt = p_attempt) then
    return case when v_end = p_whole then 1 else 0 end;
  end if;
  insert into penstock.ingest_slice (stage, attempt, start, slice) values (v_stage, p_attempt, p_start, p_slice)
  on conflict (stage, attempt, start) do update set slice = excluded.slice;
  if v_end < p_whole then
    return 0;
  end if;
  select string_agg(s.slice, '' order by s.start), bool_and(s.start = s.before) and sum(length(s.slice)) = p_whole
    into v_text, v_is_whole
    from (select s.start, s.slice,
                 coalesce(sum(length(s.slice)) over (order by s.start rows between unbounded preceding and 1 preceding), 0) as before
            from penstock.ingest_slice s where s.stage = v_stage and s.attempt = p_attempt) s;
  if v_is_whole is not true then
    raise exception using errcode = 'PS021', message = format('slices of chunk %s are gone: nothing was staged', p_attempt);
  end if;
  delete from penstock.ingest_slice s where s.stage = v_stage and s.attempt = p_attempt;
  return penstock.fn_ingest_stage_add(p_subscription, p_runtime_token, p_lane, p_attempt, ('[' || v_text || ']')::json);
end
$$;

-- Name: fn_iu_core_routes_enabled(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_iu_core_routes_enabled() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select penstock.config_text('iu_core.routes_enabled', 'false') = 'true'
$$;

-- Name: fn_iu_emit_event(text, text, text, text, text, jsonb, text, text, uuid, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_iu_emit_event(p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor text, p_correlation_id text DEFAULT NULL::text, p_causation_event_id uuid DEFAULT NULL::uuid, p_idempotency_key text DEFAULT NULL::text, p_trace text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_event uuid := gen_random_uuid();
  v_stream text := penstock.event_type_checked(p_event_domain, p_event_type, p_event_stream);
begin
  if greatest(length(p_subject_table), length(p_subject_ref), length(p_correlation_id), length(p_trace)) > 2000
     or length(p_idempotency_key) not between 1 and 500 then
    raise exception using errcode = 'PS011', message = format('event %s.%s: %s', p_event_domain, p_event_type,
      'subject, correlation_id and trace have at most 2000 characters, an idempotency_key 1 to 500');
  end if;
  if p_idempotency_key is not null then
    v_event := penstock.once_take('event:' || p_event_domain || '.' || p_event_type, p_idempotency_key, v_event::text, 'event')::uuid;
    if exists (select from penstock.event_outbox e where e.event_id = v_event) then
      return v_event;
    end if;
  end if;
  perform penstock.event_insert(v_event, p_event_domain, p_event_type, v_stream, p_subject_table, p_subject_ref, p_payload,
                                v_actor, p_correlation_id, p_causation_event_id, p_trace);
  return v_event;
end
$$;

-- Name: fn_iu_route_dead_letter_replay(bigint, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_iu_route_dead_letter_replay(p_id bigint, p_actor text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_letter penstock.iu_route_dead_letter := penstock.route_dead_letter_locked(p_id);
  v_event penstock.event_outbox := jsonb_populate_record(null::penstock.event_outbox, v_letter.event_snapshot);
  v_route penstock.iu_outbound_route;
  v_attempt bigint;
begin
  select * into v_route from penstock.iu_outbound_route r where r.route_code = v_letter.route_code;
  if v_route.route_code is null or not v_route.enabled or v_route.route_kind not in ('event', 'job', 'http', 'notify')
     or not penstock.fn_iu_core_routes_enabled() or not penstock.fn_iu_route_worker_enabled() then
    raise exception using errcode = 'PS023', message = format('event %s still cannot be delivered by route %s: %s', v_letter.event_ref,
      v_letter.route_code, case when v_route.route_code is null then 'it is gone' when not v_route.enabled then 'it is disabled'
        when v_route.route_kind not in ('event', 'job', 'http', 'notify') then format('nobody handles its kind, %s', v_route.route_kind)
        else 'a gate is closed' end);
  end if;
  insert into penstock.iu_route_attempt (
    worker_name, route_code, route_kind, event_ref, status, idempotency_key, attempt_no, job_id, ended_at)
  select v_letter.worker_name, v_route.route_code, v_route.route_kind, v_letter.event_ref,
         case when v_route.dry_run then 'dry_run' else 'queued' end, v_letter.idempotency_key,
         1 + coalesce((select max(a.attempt_no) from penstock.iu_route_attempt a where a.idempotency_key = v_letter.idempotency_key), 0),
         case when not v_route.dry_run then nextval('penstock.job_id_seq') end, case when v_route.dry_run then now() end
  returning attempt_id into v_attempt;
  perform penstock.routes_queue(array[v_attempt], array[v_event]);
  update penstock.iu_route_dead_letter d
     set replay_attempt_id = case when not v_route.dry_run then v_attempt end, resolved_at = case when v_route.dry_run then now() end,
         resolved_by = case when v_route.dry_run then v_actor end, resolution = case when v_route.dry_run then 'replayed as a dry run' end
   where d.dead_letter_id = p_id;
  return v_attempt;
end
$$;

-- Name: fn_iu_route_deliver(bigint, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_iu_route_deliver(p_attempt_id bigint, p_lease_token bigint DEFAULT NULL::bigint) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_attempt penstock.iu_route_attempt;
  v_route penstock.iu_outbound_route;
  v_event penstock.event_outbox;
begin
  select * into v_attempt from penstock.iu_route_attempt a where a.attempt_id = p_attempt_id for update;
  if v_attempt.attempt_id is null then
    raise exception using errcode = 'PS011', message = format('there is no attempt %s', p_attempt_id);
  elsif v_attempt.status <> 'queued' then
    return jsonb_build_object('status', v_attempt.status);
  elsif not penstock.route_attempt_held(v_attempt, p_lease_token) then
    raise exception using errcode = 'PS018', message = format('attempt %s is not yours to deliver: its job is not held under this token',
      p_attempt_id);
  end if;
  select * into v_route from penstock.iu_outbound_route r where r.route_code = v_attempt.route_code;
  if v_route.route_code is null or not v_route.enabled or v_route.dry_run or not penstock.fn_iu_core_routes_enabled()
     or not penstock.fn_iu_route_worker_enabled() then
    raise exception using errcode = 'PS027', message = format('outbound route %s is not live any more, or a gate is '
      'closed: nothing was sent', v_attempt.route_code),
      hint = format('Enable it and replay the dead letter: penstock dlq list --kind %s', v_attempt.route_code);
  end if;
  select * into v_event from penstock.event_outbox e where e.event_id = v_attempt.event_ref;
  if v_event.event_id is null then
    -- gone from the log: its dead letter has it whole
    select (jsonb_populate_record(null::penstock.event_outbox, d.event_snapshot)).* into v_event
      from penstock.iu_route_dead_letter d where d.idempotency_key = v_attempt.idempotency_key;
  end if;
  if v_event.event_id is null then
    raise exception using errcode = 'PS027', message = format('event %s is gone: its partition was dropped, and no dead letter has it',
      v_attempt.event_ref);
  end if;
  if v_route.route_kind = 'http' then
    return jsonb_build_object('status', 'queued', 'route_kind', v_route.route_kind, 'target', v_route.target,
      'idempotency_key', v_attempt.idempotency_key, 'event', penstock.event_told(v_event));
  end if;
  perform penstock.route_delivered(v_route, v_event, v_attempt.idempotency_key);
  perform penstock.route_sent(v_attempt);
  return jsonb_build_object('status', 'sent');
end
$$;

-- Name: fn_iu_route_sent(bigint, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_iu_route_sent(p_attempt_id bigint, p_lease_token bigint DEFAULT NULL::bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_attempt penstock.iu_route_attempt;
begin
  select * into v_attempt from penstock.iu_route_attempt a
   where a.attempt_id = p_attempt_id and a.status = 'queued' for update;
  if v_attempt.attempt_id is null or not penstock.route_attempt_held(v_attempt, p_lease_token) then
    return false;
  end if;
  perform penstock.route_sent(v_attempt);
  return true;
end
$$;

-- Name: fn_iu_route_worker_enabled(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_iu_route_worker_enabled() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select penstock.config_text('iu_core.route_worker_enabled', 'false') = 'true'
$$;

-- Name: fn_iu_route_worker_run(text, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_iu_route_worker_run(p_worker_name text DEFAULT 'iu_outbound_default'::text, p_batch_limit integer DEFAULT 1000) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
declare
  v_worker penstock.iu_route_worker_cursor;
  v_cursor penstock.event_cursor;
  v_events penstock.event_outbox[];
  v_report jsonb;
begin
  if not penstock.fn_iu_core_routes_enabled() then
    return jsonb_build_object('skipped', 'iu_core.routes_enabled is not true');
  elsif not penstock.fn_iu_route_worker_enabled() then
    return jsonb_build_object('skipped', 'iu_core.route_worker_enabled is not true');
  elsif p_batch_limit is null or p_batch_limit not between 1 and 50000 then
    raise exception using errcode = 'PS011', message = format('limit %s is outside 1 … 50000', p_batch_limit);
  end if;
  select * into v_worker from penstock.iu_route_worker_cursor w where w.worker_name = p_worker_name;
  if v_worker.worker_name is null then
    raise exception using errcode = 'PS011', message = format('there is no route worker %L', p_worker_name);
  end if;
  v_cursor := penstock.cursor_taken('route:' || p_worker_name);
  if v_cursor.cursor_name is null then
    return jsonb_build_object('skipped', 'another run of this worker is under way');
  elsif v_cursor.goal_tick_id is null then
    return '{"events": 0, "more": false}'::jsonb;
  end if;
  v_events := penstock.cursor_page(v_cursor, p_batch_limit);
  v_report := jsonb_build_object('events', cardinality(v_events)) || penstock.routes_run_apart(v_worker, v_events);
  update penstock.iu_route_worker_cursor w
     set runs = w.runs + 1, events = w.events + cardinality(v_events), last_run_at = now(), last_run_summary = v_report
   where w.worker_name = p_worker_name;
  return v_report || jsonb_build_object('more', penstock.cursor_moved(v_cursor, v_events, p_batch_limit));
end
$$;

-- Name: fn_iu_route_worker_set(text, text, boolean, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_iu_route_worker_set(p_worker_name text, p_event_domain text DEFAULT NULL::text, p_reset boolean DEFAULT false, p_actor text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if coalesce(p_worker_name, '') !~ '^[A-Za-z][A-Za-z0-9_.-]{0,80}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be the name of a route worker', p_worker_name);
  end if;
  if p_event_domain is not null and not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain);
  end if;
  insert into penstock.iu_route_worker_cursor as w (worker_name, event_domain, set_by) values (p_worker_name, p_event_domain, v_actor)
  on conflict (worker_name) do update set event_domain = excluded.event_domain, set_by = excluded.set_by, set_at = now();
  insert into penstock.event_cursor as c (cursor_name, tick_id) values ('route:' || p_worker_name, penstock.fn_outbox_tick(true))
  on conflict (cursor_name) do update set tick_id = excluded.tick_id, goal_tick_id = null, page_tx = null, page_seq = null, moved_at = now()
    where p_reset;
end
$_$;

-- Name: fn_job_await(bigint, bigint, timestamp with time zone, text, text, text[], text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_await(p_job_id bigint, p_token bigint, p_until timestamp with time zone DEFAULT NULL::timestamp with time zone, p_on_due text DEFAULT 'expire'::text, p_callback_key text DEFAULT NULL::text, p_approvers text[] DEFAULT NULL::text[], p_prompt text DEFAULT NULL::text) RETURNS TABLE(job_id bigint, accepted boolean, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_done bigint[];
begin
  if p_on_due not in ('resume', 'expire') or length(p_callback_key) < 16 or length(p_prompt) > 2000 then
    raise exception using errcode = 'PS011',
      message = 'p_on_due is resume or expire, p_callback_key has 16 characters at least, p_prompt 2000 at most';
  end if;
  with moved as (
    update penstock.job_queue q
       -- who began it stays a fact; nothing of an awaiting job is leased
       set status = 'awaiting', process_after = p_until, lease_until = null, rule = null
     where q.job_id = p_job_id and q.lease_token = p_token and q.status = 'running' and not q.cancel_requested
       and (v_rules is null or q.rule = any (v_rules))
    returning q.job_id
  ), asked as (
    insert into penstock.job_await (job_id, on_due, key_hash, approvers, prompt)
    select m.job_id, p_on_due, sha256(convert_to(p_callback_key, 'UTF8')), p_approvers, p_prompt from moved m
    on conflict (job_id) do update set on_due = excluded.on_due, key_hash = excluded.key_hash, approvers = excluded.approvers,
      prompt = excluded.prompt, asked_at = now()
  )
  select array_agg(1::bigint) into v_done from moved;
  return query select * from penstock.job_answers(array[p_job_id], array[p_token], v_done, v_rules);
end
$$;

-- Name: fn_job_callback_key(bigint, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_callback_key(p_job_id bigint, p_token bigint) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_rules bigint[] := penstock.caller_rules();
begin
  if not exists (select from penstock.job_queue q where q.job_id = p_job_id and q.lease_token = p_token and q.status = 'running'
                    and (v_rules is null or q.rule = any (v_rules))) then
    raise exception using errcode = 'PS009', message = format('job %s is not held under this token: its key is not told', p_job_id);
  end if;
  -- both parts have a fixed length, so no key is made of another
  return (select encode(sha256(c.secret || int8send(p_job_id)), 'hex') from penstock.callback_secret c);
end
$$;

-- Name: fn_job_cancel(bigint, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_cancel(p_job_id bigint, p_actor text DEFAULT NULL::text, p_reason text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_workflows bigint[] := penstock.workflow_family(array(
    select q.execution_id from penstock.job_queue q where q.job_id = p_job_id and q.execution_id is not null
    union select w.execution_id from penstock.job_workflow w where w.parent_job = p_job_id and w.finished_at is null));
  v_queue penstock.job_queue := penstock.job_locked(p_job_id, 'be cancelled');
begin
  if v_queue.cancel_requested then
    return 'cancel_requested';
  end if;
  perform penstock.family_moved(array(select w.execution_id from penstock.job_workflow w
                                       where w.parent_job = p_job_id and w.finished_at is null), 'cancel', v_actor);
  perform penstock.happened(p_job_id, 'cancel_requested', v_actor, jsonb_build_object('reason', left(p_reason, 500)));
  if v_queue.status in ('leased', 'running') then
    update penstock.job_queue q set cancel_requested = true where q.job_id = p_job_id;
    return 'cancel_requested';
  end if;
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  delete from penstock.job_queue q where q.job_id = p_job_id;
  delete from penstock.job_await a where a.job_id = p_job_id;
  insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
  values (p_job_id, clock_timestamp(), coalesce(v_queue.lease_token, 0), v_queue.enqueued_at, v_queue.started_at, v_queue.leased_by,
          v_queue.attempt, 'cancelled', 'cancelled');
  if v_queue.lane is not null and v_queue.status in ('ready', 'awaiting', 'retrying') then
    perform penstock.lanes_advance(array[v_queue.lane]);
  end if;
  if v_queue.execution_id = any (v_workflows) then
    perform penstock.steps_end(array[row(v_queue.execution_id, v_queue.step_id, v_queue.visit, v_queue.item, p_job_id, 'stuck', null,
                                         null)::penstock.step_end]);
  end if;
  return 'cancelled';
end
$$;

-- Name: fn_job_child(bigint, bigint, jsonb, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_child(p_job_id bigint, p_token bigint, p_request jsonb, p_wait boolean) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_rules bigint[] := penstock.caller_rules();
  v_held penstock.job;
  v_parent penstock.execution_parent;
  v_depth integer;
  v_child bigint;
begin
  select j.* into v_held from penstock.job_queue q join penstock.job j on j.job_id = q.job_id and j.enqueued_at = q.enqueued_at
   where q.job_id = p_job_id and q.lease_token = p_token and q.status = 'running' and not q.cancel_requested
     and (v_rules is null or q.rule = any (v_rules))
     for share of q;
  if not found then
    raise exception using errcode = 'PS009',
      message = format('job %s is not held under this token, or is being cancelled: it starts nothing', p_job_id);
  end if;
  if not exists (
    select from penstock.catalog c
     where c.path = split_part(v_held.playbook_ref, '@', 1) and c.version = split_part(v_held.playbook_ref, '@', 2)::integer
       and p_request ->> 'playbook' in (select penstock.catalog_playbooks('Playbook', c.content))) then
    raise exception using errcode = 'PS016', 
      message = format('%s does not name the playbook %s', v_held.playbook_ref, p_request ->> 'playbook');
  end if;
  v_depth := coalesce((select w.depth from penstock.job_workflow w where w.execution_id = v_held.execution_id), 0);
  if v_depth >= penstock.config_text('execution.max_depth', '16')::integer then
    raise exception using errcode = 'PS011',
      message = format('%s executions have started one another: %s is not started', v_depth + 1, p_request ->> 'playbook'),
      hint = 'A playbook that starts itself needs an end; execution.max_depth is how deep it may go.';
  end if;
  v_parent := row(p_job_id, coalesce(v_held.execution_id, p_job_id), v_held.actor, v_depth, p_wait, v_held.causation_event_id,
                  v_held.causation_depth);
  v_child := (select e.execution_id from penstock.executions_start(jsonb_build_array(
    p_request || jsonb_build_object('idempotency_key', coalesce(p_request ->> 'idempotency_key', 'only'))), v_parent) e);
  if exists (select from penstock.job_workflow w where w.execution_id = v_held.execution_id and w.status = 'paused')
     and exists (select from penstock.job_workflow w where w.execution_id = v_child and w.status = 'running' for update) then
    perform penstock.execution_paused(v_child);
  end if;
  return v_child;
end
$$;

-- Name: fn_job_child_ended(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_child_ended(p_execution_id bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_child penstock.job_workflow;
  v_waited boolean;
begin
  perform penstock.workflows_locked(array(select w.parent_job from penstock.job_workflow w where w.execution_id = p_execution_id));
  select * into v_child from penstock.job_workflow w where w.execution_id = p_execution_id and w.finished_at is not null for update;
  perform from penstock.job_queue q where q.job_id = v_child.parent_job and q.status = 'awaiting' for update;
  v_waited := found;
  if v_waited and v_child.status = 'succeeded' then
    perform penstock.awaiting_done(array[v_child.parent_job], jsonb_build_object('execution', p_execution_id, 'result', (
      select r.result from penstock.job_step t
        join penstock.job_outcome o on o.job_id = t.job_id
        left join penstock.job_result r on r.job_id = t.job_id
       where t.execution_id = p_execution_id order by o.finished_at desc limit 1)));
  elsif v_waited then
    perform penstock.awaiting_failed(array[v_child.parent_job], 'child_' || v_child.status, jsonb_build_object(
      'type', 'ChildEnded', 'message', format('execution %s of %s has %s', p_execution_id, v_child.playbook_ref,
                                              case v_child.status when 'failed' then 'failed' else 'been cancelled' end)));
  end if;
  -- one that lives, and does not wait yet, will have to be told again
  update penstock.job_workflow w set answer_job = null
   where w.execution_id = v_child.execution_id and w.answer_job is not null
     and not exists (select from penstock.job_queue q where q.job_id = w.parent_job);
  return v_waited;
end
$$;

-- Name: fn_job_claim(text, integer, text[], text[], uuid, boolean, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_claim(p_executor_id text, p_limit integer, p_kinds text[] DEFAULT NULL::text[], p_pools text[] DEFAULT NULL::text[], p_incarnation uuid DEFAULT NULL::uuid, p_start boolean DEFAULT false, p_suspects boolean DEFAULT true) RETURNS SETOF penstock.job_claim
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_executor penstock.executor := penstock.executor_checked(p_executor_id);
  v_incarnation uuid := coalesce(p_incarnation, gen_random_uuid());
  v_claims penstock.job_claim[];
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'PS011',
      message = format('p_limit is %s: a claim takes 1 to 1,000 jobs', coalesce(p_limit::text, 'null'));
  end if;
  v_claims := penstock.claim_pass(v_executor, p_limit, p_kinds, p_pools, v_incarnation, p_start, p_suspects);
  if cardinality(v_claims) = 0 then
    perform penstock.pools_check(p_pools);
  end if;
  if cardinality(v_claims) = 0
     and not exists (select from penstock.job_subscription s where s.executor_id = p_executor_id and s.enabled) then
    raise notice 'executor % has no enabled job subscription: it claims nothing (see fn_job_subscription_set)', p_executor_id;
    return;
  end if;
  if cardinality(v_claims) < p_limit and penstock.jobs_due()
     and penstock.lanes_sweep(200) + penstock.promote_due(p_limit) + penstock.awaiting_due(p_limit) > 0 then
    v_claims := v_claims
      || penstock.claim_pass(v_executor, p_limit - cardinality(v_claims), p_kinds, p_pools, v_incarnation, p_start, p_suspects);
  end if;
  return query select * from unnest(v_claims) c order by c.priority desc, c.job_id;
end
$$;

-- Name: fn_job_dead_letter_replay(bigint, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_dead_letter_replay(p_dead_letter_id bigint, p_actor text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_execution bigint := (select w.execution_id from penstock.job_workflow w where w.execution_id = (
    select (d.snapshot ->> 'execution_id')::bigint from penstock.job_dead_letter d where d.dead_letter_id = p_dead_letter_id) for update);
  v_letter penstock.job_dead_letter := penstock.dead_letter_locked(p_dead_letter_id);
  v_was penstock.job := jsonb_populate_record(null::penstock.job, v_letter.snapshot);
  v_new bigint := nextval('penstock.job_id_seq');
begin
  if v_letter.job_kind = 'route_deliver' then
    raise exception using errcode = 'PS014', message = format('dead letter job-%s is that of a delivery', p_dead_letter_id),
      hint = 'The next tick makes it a dead letter of its route: penstock tick, then penstock dlq list, and replay that.';
  end if;
  if v_execution is not null then
    return penstock.step_replayed(v_execution, v_letter, v_actor);
  end if;
  if v_was.step is not null then
    raise exception using errcode = 'PS009',
      message = format('execution %s is forgotten: its step %s cannot be run again', v_was.execution_id, v_was.step),
      hint = format('Start the playbook anew, and close this: penstock dlq discard job-%s --reason …', p_dead_letter_id);
  end if;
  perform penstock.payload_check(v_was.safe_payload, 'safe_payload');
  perform penstock.job_insert(array[row(1, v_new, v_was.job_kind, null, v_was.executor, v_was.source_ref, v_was.target_ref,
    v_was.payload_ref, v_was.safe_payload, v_was.priority, null, v_was.correlation_id, v_was.causation_event_id,
    v_actor, v_was.pool, v_was.lane, v_was.event_domain, v_was.trace, v_was.max_attempts,
    p_dead_letter_id, v_was.playbook_ref, v_was.subscription, null)::penstock.job_request]);
  -- an execution of one step has that step's backoff, as when it was started
  update penstock.job_queue q set step_id = s.step_id
    from penstock.playbook_step s
   where q.job_id = v_new and s.backoff is not null and s.is_single
     and (s.path, s.version) = (split_part(v_was.playbook_ref, '@', 1), split_part(v_was.playbook_ref, '@', 2)::integer);
  update penstock.job_dead_letter d
     set resolved_at = now(), resolved_by = v_actor, resolution = 'replayed', replay_job_id = v_new
   where d.dead_letter_id = p_dead_letter_id;
  return v_new;
end
$$;

-- Name: fn_job_enqueue(text, text, text, text, text, text, jsonb, integer, timestamp with time zone, text, uuid, text, text, text, text, text, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_enqueue(p_kind text, p_idempotency_key text DEFAULT NULL::text, p_executor text DEFAULT 'PG_worker'::text, p_source_ref text DEFAULT NULL::text, p_target_ref text DEFAULT NULL::text, p_payload_ref text DEFAULT NULL::text, p_safe_payload jsonb DEFAULT NULL::jsonb, p_priority integer DEFAULT 0, p_process_after timestamp with time zone DEFAULT NULL::timestamp with time zone, p_correlation_id text DEFAULT NULL::text, p_causation_event_id uuid DEFAULT NULL::uuid, p_actor text DEFAULT NULL::text, p_pool text DEFAULT 'shared'::text, p_lane text DEFAULT NULL::text, p_event_domain text DEFAULT NULL::text, p_trace text DEFAULT NULL::text, p_max_attempts integer DEFAULT NULL::integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_row penstock.job_request;
begin
  perform penstock.payload_check(p_safe_payload, 'safe_payload');
  v_row := row(1, nextval('penstock.job_id_seq'), p_kind, p_idempotency_key, coalesce(p_executor, 'PG_worker'),
    p_source_ref, p_target_ref, p_payload_ref, p_safe_payload, coalesce(p_priority, 0), p_process_after, p_correlation_id,
    p_causation_event_id, coalesce(p_actor, 'role:' || penstock.caller()), coalesce(p_pool, 'shared'), p_lane,
    p_event_domain, p_trace, p_max_attempts, null, null, null, null);
  return (select i.job_id from penstock.job_insert(array[v_row]) i);
end
$$;

-- Name: fn_job_enqueue_many(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_enqueue_many(p_jobs jsonb) RETURNS TABLE(ordinal integer, job_id bigint, created boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_rows penstock.job_request[];
  v_actor text := 'role:' || penstock.caller();
begin
  perform penstock.job_array_check(p_jobs);
  v_rows := array(
    select row(j.ordinality, nextval('penstock.job_id_seq'), j.kind, j.idempotency_key,
               coalesce(j.executor, 'PG_worker'), j.source_ref, j.target_ref, j.payload_ref, j.safe_payload,
               coalesce(j.priority, 0), j.process_after, j.correlation_id, j.causation_event_id,
               coalesce(j.actor, v_actor), coalesce(j.pool, 'shared'), j.lane, j.event_domain, j.trace,
               j.max_attempts, null, null, null, null)::penstock.job_request
      from rows from (jsonb_to_recordset(p_jobs) as (
        kind text, idempotency_key text, executor text, source_ref text, target_ref text, payload_ref text,
        safe_payload jsonb, priority integer, process_after timestamptz, correlation_id text,
        causation_event_id uuid, actor text, pool text, lane text, event_domain text, trace text,
        max_attempts integer)) with ordinality j);
  return query select * from penstock.job_insert(v_rows);
exception
  when invalid_text_representation or invalid_datetime_format or datetime_field_overflow
    or numeric_value_out_of_range or invalid_parameter_value then
    raise exception using errcode = 'PS011', message = 'a job of the request has a field that cannot be read: ' || sqlerrm;
end
$$;

-- Name: fn_job_fail(bigint[], bigint[], jsonb[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_fail(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[] DEFAULT NULL::jsonb[]) RETURNS TABLE(job_id bigint, accepted boolean, next_status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_failed bigint[];
  v_became penstock.job_status[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, p_errors);
  select array_agg(f.ordinal), array_agg(f.next_status) into v_failed, v_became
    from penstock.attempts_failed(p_job_ids, p_tokens, p_errors, 'failed', v_rules) f;
  return query
    select a.job_id, a.accepted, case when a.accepted then b.became::text else a.reason end
      from penstock.job_answers(p_job_ids, p_tokens, v_failed, v_rules) with ordinality a
      left join unnest(v_failed, v_became) b(ordinal, became) on b.ordinal = a.ordinality
     order by a.ordinality;
end
$$;

-- Name: fn_job_finish(bigint[], bigint[], jsonb[], jsonb[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_finish(p_job_ids bigint[], p_tokens bigint[], p_results jsonb[] DEFAULT NULL::jsonb[], p_next jsonb[] DEFAULT NULL::jsonb[]) RETURNS TABLE(job_id bigint, accepted boolean, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_bad bigint[] := penstock.job_results_refused(p_results);
  v_next bigint[];
  v_done bigint[];
  v_lanes text[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, p_results);
  perform penstock.job_pairs_check(p_job_ids, p_tokens, p_next);
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  if p_next is not null then
    select f.done, f.bad, f.lanes into v_done, v_next, v_lanes
      from penstock.steps_finished(p_job_ids, p_tokens, p_next, v_bad, v_rules) f;
  end if;
  if coalesce(cardinality(v_done), 0) < cardinality(p_job_ids) then
    select v_done || f.done, v_lanes || f.lanes into v_done, v_lanes 
      from penstock.jobs_finished(p_job_ids, p_tokens, v_bad || v_next, v_rules) f;
  end if;
  if p_next is null and coalesce(cardinality(v_done), 0) < cardinality(p_job_ids) and exists (
       select from penstock.job_queue q where q.job_id = any (p_job_ids) and q.execution_id is not null) then
    select v_done || f.done, f.bad, v_lanes || f.lanes into v_done, v_next, v_lanes
      from penstock.steps_finished(p_job_ids, p_tokens, null, v_bad, v_rules) f;
  end if;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if p_results is not null then
    insert into penstock.job_result (job_id, result)
    select x.job_id, x.result from unnest(v_done) d(ordinal)
      join unnest(p_job_ids, p_results) with ordinality x(job_id, result, ordinality) on x.ordinality = d.ordinal
     where x.result is not null;
  end if;
  if cardinality(v_done) = cardinality(p_job_ids) then
    return query select x, true, null::text from unnest(p_job_ids) x;
    return;
  end if;
  return query
    select a.job_id, a.accepted, case when a.reason = 'bad_result' and a.ordinality = any (v_next) then 'bad_next' else a.reason end
      from penstock.job_answers(p_job_ids, p_tokens, v_done, v_rules) with ordinality a
     order by a.ordinality;
end
$$;

-- Name: fn_job_heartbeat(text, uuid, bigint[], bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_heartbeat(p_executor_id text, p_incarnation uuid, p_job_ids bigint[] DEFAULT NULL::bigint[], p_tokens bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(job_id bigint, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_executor penstock.executor := penstock.executor_checked(p_executor_id);
  v_rules bigint[] := array(select s.subscription_id from penstock.job_subscription s where s.executor_id = p_executor_id);
begin
  if p_job_ids is not null then
    perform penstock.job_pairs_check(p_job_ids, p_tokens, null);
  end if;
  perform penstock.heartbeat_write(v_executor, p_incarnation);
  with due as (
    select q.ctid as place, l.lease, l.limit_at
      from penstock.job_queue q
     cross join lateral (
       select penstock.config_for_kind('queue.lease_ms', q.job_kind, 60000) * interval '1 millisecond' as lease,
              q.started_at + penstock.config_for_kind('queue.timeout_ms', q.job_kind, 900000) * interval '1 millisecond' as limit_at) l
     where q.rule = any (v_rules) and q.leased_by = p_incarnation and q.status in ('leased', 'running')
       and q.lease_until < clock_timestamp() + l.lease / 2
       and (l.limit_at is null or q.lease_until < l.limit_at)
       and (p_job_ids is null or (q.job_id, q.lease_token) in (select x.job_id, x.token from unnest(p_job_ids, p_tokens) x(job_id, token)))
       for update of q skip locked)
  update penstock.job_queue q set lease_until = least(clock_timestamp() + d.lease, d.limit_at)
    from due d where q.ctid = d.place;
  return query
    select x.job_id, case when q.job_id is null then 'lost' else 'cancelled' end
      from unnest(p_job_ids, p_tokens) x(job_id, token)
      left join penstock.job_queue q on q.job_id = x.job_id and q.lease_token = x.token and q.status in ('leased', 'running')
     where q.job_id is null or q.cancel_requested;
end
$$;

-- Name: fn_job_kept(bigint[], bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_kept(p_job_ids bigint[], p_tokens bigint[]) RETURNS TABLE(job_id bigint, lease_token bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select x.job_id, x.token from unnest(p_job_ids, p_tokens) x(job_id, token)
   where exists (select from penstock.job_outcome o
                  where o.job_id = x.job_id and o.lease_token = x.token and o.status = 'succeeded')
$$;

-- Name: fn_job_list(text, text, text, bigint, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_list(p_status text DEFAULT NULL::text, p_kind text DEFAULT NULL::text, p_pool text DEFAULT NULL::text, p_before bigint DEFAULT NULL::bigint, p_limit integer DEFAULT 50) RETURNS TABLE(job_ids bigint[], next_before bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  c_most_rows constant integer := 100000;
  v_before bigint := coalesce(p_before, 9223372036854775807);
  v_rows refcursor;
  v_seen integer := 0;
  v_id bigint;
  v_fits boolean;
begin
  if p_status <> all (enum_range(null::penstock.job_status)::text[]) or p_limit not between 1 and 1000 then
    raise exception using errcode = 'PS011', message = format('%s jobs of status %L cannot be listed', p_limit, p_status),
      hint = 'A list holds 1 to 1,000 jobs of: ' || array_to_string(enum_range(null::penstock.job_status), ', ');
  end if;
  if p_status is null then
    open v_rows for
      select j.job_id, (j.job_kind, j.pool) = (coalesce(p_kind, j.job_kind), coalesce(p_pool, j.pool))
        from penstock.job j where j.job_id < v_before order by j.job_id desc limit c_most_rows;
  elsif p_status = 'dead_lettered' then
    open v_rows for
      select d.job_id, d.job_kind = coalesce(p_kind, d.job_kind) and (p_pool is null or d.snapshot ->> 'pool' = p_pool)
        from penstock.job_dead_letter d where d.job_id < v_before order by d.job_id desc limit c_most_rows;
  elsif p_status in ('succeeded', 'cancelled') then
    open v_rows for
      select o.job_id, o.status::text = p_status and (p_kind is null and p_pool is null or exists (
               select from penstock.job j where j.job_id = o.job_id and j.enqueued_at = o.enqueued_at
                  and (j.job_kind, j.pool) = (coalesce(p_kind, j.job_kind), coalesce(p_pool, j.pool))))
        from penstock.job_outcome o where o.job_id < v_before order by o.job_id desc limit c_most_rows;
  elsif p_status in ('leased', 'running') then
    -- they have an index of their own, and are not to be looked for among a million that wait
    open v_rows for
      select q.job_id, (q.status::text, q.job_kind, q.pool) = (p_status, coalesce(p_kind, q.job_kind), coalesce(p_pool, q.pool))
        from (select * from penstock.job_queue h where h.status in ('leased', 'running') offset 0) q
       where q.job_id < v_before order by q.job_id desc limit c_most_rows;
  else
    open v_rows for
      select q.job_id, (q.status::text, q.job_kind, q.pool) = (p_status, coalesce(p_kind, q.job_kind), coalesce(p_pool, q.pool))
        from penstock.job_queue q where q.job_id < v_before order by q.job_id desc limit c_most_rows;
  end if;
  job_ids := '{}';
  while next_before is null loop
    fetch v_rows into v_id, v_fits;
    exit when not found;
    v_seen := v_seen + 1;
    job_ids := case when v_fits then job_ids || v_id else job_ids end;
    next_before := case when v_seen = c_most_rows or cardinality(job_ids) = p_limit then v_id end;
  end loop;
  close v_rows;
  return next;
end
$$;

-- Name: fn_job_release(bigint[], bigint[], integer[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_release(p_job_ids bigint[], p_tokens bigint[], p_delays_ms integer[] DEFAULT NULL::integer[]) RETURNS TABLE(job_id bigint, accepted boolean, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_done bigint[];
  v_domains text[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, (select array_agg(to_jsonb(d)) from unnest(p_delays_ms) d));
  if exists (select from unnest(p_delays_ms) d where d is null or d not between 0 and 604800000) then
    raise exception using errcode = 'PS011', message = 'a job can be put off by 0 to 604800000 ms, a week';
  end if;
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with held as materialized (
    select q.job_id, x.ordinality, q.enqueued_at, q.lease_token, q.leased_by, q.started_at, q.attempt,
           case when x.delay_ms > 0 then clock_timestamp() + x.delay_ms * interval '1 ms' end as until
      from penstock.job_queue q
      -- a pair may have been given twice
      join (select distinct on (u.job_id, u.token) u.*
              from unnest(p_job_ids, p_tokens, p_delays_ms) with ordinality u(job_id, token, delay_ms, ordinality)
             order by u.job_id, u.token, u.ordinality) x on x.job_id = q.job_id and x.token = q.lease_token
     where q.job_id = any (p_job_ids) and q.status in ('leased', 'running')
       and not q.cancel_requested and (v_rules is null or q.rule = any (v_rules))
     order by q.job_id for update of q
  ), begun as (
    insert into penstock.job_outcome (
      job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
    select h.job_id, clock_timestamp(), h.lease_token, h.enqueued_at, h.started_at, h.leased_by, h.attempt,
           'ready'::penstock.job_status, case when h.until is null then 'released' else 'put_off' end
      from held h where h.started_at is not null
  ), released as (
    update penstock.job_queue q
       set status = case when h.until is null then 'ready'::penstock.job_status else 'retrying' end, attempt = q.attempt - 1,
           process_after = coalesce(h.until, q.process_after), lease_token = null, lease_until = null, leased_by = null,
           started_at = null, rule = null
      from held h
     where q.job_id = any (p_job_ids) and q.job_id = h.job_id
    returning h.ordinality, q.event_domain, h.until)
  select array_agg(r.ordinality), array_agg(distinct r.event_domain) filter (where r.until is null)
    into v_done, v_domains from released r;
  perform penstock.steps_hold(p_job_ids);
  if v_domains is not null then
    perform penstock.wake(v_domains);
  end if;
  return query select * from penstock.job_answers(p_job_ids, p_tokens, v_done, v_rules);
end
$$;

-- Name: fn_job_resume(bigint, text, jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_resume(p_job_id bigint, p_callback_key text DEFAULT NULL::text, p_result jsonb DEFAULT NULL::jsonb, p_actor text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_await penstock.job_await;
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  perform penstock.workflows_locked(array[p_job_id]);
  perform from penstock.job_queue q where q.job_id = p_job_id and q.status = 'awaiting' for update;
  if not found then
    raise exception using errcode = 'PS009', message = format('job %s does not wait for an answer: it is %s', p_job_id,
      coalesce((select j.status from penstock.v_job j where j.job_id = p_job_id), 'unknown')),
      hint = 'It may have been answered already, or not be there yet: penstock job show says.';
  end if;
  select * into v_await from penstock.job_await a where a.job_id = p_job_id;
  if (p_callback_key is not null and v_await.key_hash is distinct from sha256(convert_to(p_callback_key, 'UTF8')))
     or (p_callback_key is null and not penstock.caller_is_operator() and v_actor <> all (coalesce(v_await.approvers, '{}'))) then
    raise exception using errcode = 'PS004', message = case when p_callback_key is not null
        then format('this is not the callback key of job %s', p_job_id)
        else format('%s was not asked by job %s', v_actor, p_job_id) end,
      hint = coalesce('Asked were ' || array_to_string(v_await.approvers, ', ') || '.', 'Only operators can answer it without its key.');
  end if;
  perform penstock.answer_by_hand_check(p_job_id);
  if penstock.job_results_refused(array[p_result]) <> '{}' then
    raise exception using errcode = 'PS007', message = format(
      'the answer for job %s is %s bytes of JSON, and %s are kept (queue.result.max_bytes)', p_job_id, octet_length(p_result::text),
      penstock.config_text('queue.result.max_bytes', '65536'));
  end if;
  perform penstock.happened(p_job_id, 'resumed', v_actor, jsonb_build_object('by_key', p_callback_key is not null));
  perform penstock.awaiting_done(array[p_job_id], p_result);
  return 'succeeded';
end
$$;

-- Name: fn_job_retry(bigint, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_retry(p_job_id bigint, p_actor text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_letter bigint;
  v_queue penstock.job_queue;
begin
  select d.dead_letter_id into v_letter from penstock.job_dead_letter d where d.job_id = p_job_id and d.resolved_at is null;
  if found then
    return penstock.fn_job_dead_letter_replay(v_letter, p_actor);
  end if;
  v_queue := penstock.job_locked(p_job_id, 'be retried');
  if v_queue.status not in ('scheduled', 'retrying') then
    raise exception using errcode = 'PS009',
      message = format('job %s is %s: only a scheduled, retrying or dead-lettered job can be retried', p_job_id, v_queue.status);
  end if;
  perform penstock.happened(p_job_id, 'retry_requested', v_actor);
  update penstock.job_queue q set process_after = now() where q.job_id = p_job_id;
  perform penstock.jobs_promote(array[p_job_id]);
  return p_job_id;
end
$$;

-- Name: fn_job_start(bigint[], bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_start(p_job_ids bigint[], p_tokens bigint[]) RETURNS TABLE(job_id bigint, accepted boolean, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_done bigint[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, null);
  with held as materialized (
    select q.job_id, x.ordinality
      from penstock.job_queue q join unnest(p_job_ids, p_tokens) with ordinality x(job_id, token, ordinality)
        on x.job_id = q.job_id and x.token = q.lease_token
     where q.job_id = any (p_job_ids) and q.status = 'leased'
       and not q.cancel_requested and (v_rules is null or q.rule = any (v_rules))
     order by q.job_id for update of q
  ), started as (
    update penstock.job_queue q set status = 'running', started_at = clock_timestamp()
      from held h
     where q.job_id = any (p_job_ids) and q.job_id = h.job_id
    returning h.ordinality)
  select array_agg(s.ordinality) into v_done from started s;
  return query select a.job_id, a.accepted, case a.reason when 'bad_result' then 'already_running' else a.reason end
    from penstock.job_answers(p_job_ids, p_tokens, v_done, v_rules) a;
end
$$;

-- Name: fn_job_subscription_set(text, text, text, text, integer, integer, boolean, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_job_subscription_set(p_executor_id text, p_executor_kind text, p_job_kind text DEFAULT NULL::text, p_event_domain text DEFAULT NULL::text, p_priority_floor integer DEFAULT NULL::integer, p_max_parallel integer DEFAULT NULL::integer, p_enabled boolean DEFAULT false, p_registered_by text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_registered_by);
  v_kind text;
  v_rule bigint;
begin
  perform penstock.executor_kind_check(p_executor_kind);
  select e.executor_kind into v_kind from penstock.executor e where e.executor_id = p_executor_id and e.deregistered_at is null;
  if v_kind is null then
    raise exception using errcode = 'PS001', message = format('executor %L is not registered', p_executor_id),
      hint = 'Register it with fn_executor_register.';
  end if;
  if v_kind <> p_executor_kind then
    raise exception using errcode = 'PS002',
      message = format('executor %s is registered as %s, not as %s', p_executor_id, v_kind, p_executor_kind);
  end if;
  if p_event_domain is not null and not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = format('An operator makes it with: select penstock.fn_event_domain_register(%L)', p_event_domain);
  end if;
  if p_max_parallel < 1 or p_priority_floor not between -32768 and 32767 then
    raise exception using errcode = 'PS011', message = 'max_parallel must be at least 1 and priority_floor within -32768 … 32767';
  end if;
  insert into penstock.job_subscription as s (
    executor_id, executor_kind, job_kind, event_domain, priority_floor, max_parallel, enabled, registered_by)
  values (p_executor_id, p_executor_kind, p_job_kind, p_event_domain, coalesce(p_priority_floor, -32768), p_max_parallel,
          coalesce(p_enabled, false), v_actor)
  on conflict (executor_id, job_kind, event_domain) do update
    set priority_floor = excluded.priority_floor, max_parallel = excluded.max_parallel, enabled = excluded.enabled,
        registered_by = excluded.registered_by
  returning s.subscription_id into v_rule;
  return v_rule;
end
$$;

-- Name: fn_mark_verified(bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_mark_verified(p_staging_ids bigint[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return penstock.staging_move(p_staging_ids, 'marked', 'mark_verified');
end
$$;

-- Name: fn_mark_write(bigint[], integer, bigint[], integer[], integer[], integer[], text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_mark_write(p_staging_ids bigint[], p_max_bytes integer, p_of bigint[], p_positions integer[], p_firsts integer[], p_ends integer[], p_addresses text[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_ids bigint[];
begin
  if cardinality(p_of) <> all (array[cardinality(p_positions), cardinality(p_firsts), cardinality(p_ends), cardinality(p_addresses)])
     or not p_of <@ p_staging_ids then
    raise exception using errcode = 'PS011', message = 'every mark needs its document, which is one of those given, its position, '
      'its first and end byte and its address';
  end if;
  select coalesce(array_agg(l.staging_id), '{}') into v_ids
    from (select r.staging_id from penstock.iu_staging_record r
           where r.staging_id = any (p_staging_ids) and r.state in ('staged', 'marked', 'mark_verified')
           order by r.staging_id for update) l;
  delete from penstock.iu_staging_mark m where m.staging_id = any (v_ids);
  insert into penstock.iu_staging_mark (staging_id, position, first_byte, end_byte, address)
  select g.staging_id, g.position, g.first_byte, g.end_byte, g.address
    from unnest(p_of, p_positions, p_firsts, p_ends, p_addresses) g(staging_id, position, first_byte, end_byte, address)
   where g.staging_id = any (v_ids);
  update penstock.iu_staging_record r set state = 'marked', max_bytes = p_max_bytes where r.staging_id = any (v_ids);
  return cardinality(v_ids);
end
$$;

-- Name: fn_mot_graph_emit(text, jsonb, text, text, text, text, text, integer, timestamp with time zone); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_mot_graph_emit(p_playbook text, p_params jsonb DEFAULT NULL::jsonb, p_actor text DEFAULT NULL::text, p_idempotency_key text DEFAULT NULL::text, p_pool text DEFAULT NULL::text, p_trace text DEFAULT NULL::text, p_correlation_id text DEFAULT NULL::text, p_priority integer DEFAULT NULL::integer, p_process_after timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return (select e.execution_id from penstock.executions_start(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
    'playbook', p_playbook, 'actor', p_actor, 'idempotency_key', p_idempotency_key, 'pool', p_pool, 'trace', p_trace,
    'correlation_id', p_correlation_id, 'priority', p_priority, 'process_after', p_process_after))
    || case when p_params is null then '{}' else jsonb_build_object('payload', p_params) end), null) e);
end
$$;

-- Name: fn_outbound_route_set(text, jsonb, boolean, boolean, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_outbound_route_set(p_route_code text, p_definition jsonb DEFAULT NULL::jsonb, p_enabled boolean DEFAULT NULL::boolean, p_dry_run boolean DEFAULT NULL::boolean, p_reviewed_by text DEFAULT NULL::text, p_actor text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_route penstock.iu_outbound_route;
begin
  if p_definition is not null then
    perform penstock.outbound_route_defined(p_route_code, p_definition, v_actor);
  end if;
  select * into v_route from penstock.iu_outbound_route r where r.route_code = p_route_code for update;
  if v_route.route_code is null then
    raise exception using errcode = 'PS011', message = format('there is no outbound route %L', p_route_code);
  end if;
  if p_reviewed_by is not null then
    v_route.reviewed_by := penstock.actor_checked(p_reviewed_by);
    v_route.reviewed_at := now();
    perform penstock.review_check('outbound route ' || p_route_code, exists (
      select from penstock.iu_route_attempt a where a.route_code = p_route_code and a.status = 'dry_run'
         and a.attempted_at >= v_route.registered_at));
  end if;
  v_route.enabled := coalesce(p_enabled, v_route.enabled);
  v_route.dry_run := coalesce(p_dry_run, v_route.dry_run);
  perform penstock.live_check('outbound route ' || p_route_code, v_route.enabled and not v_route.dry_run, v_route.reviewed_at,
    format('penstock route review %s --outbound', p_route_code));
  update penstock.iu_outbound_route r
     set enabled = v_route.enabled, dry_run = v_route.dry_run, reviewed_by = v_route.reviewed_by, reviewed_at = v_route.reviewed_at,
         live_at = case when v_route.enabled and not v_route.dry_run then coalesce(r.live_at, now()) end
   where r.route_code = p_route_code;
  return case when not v_route.enabled then 'disabled' when v_route.dry_run then 'dry_run' else 'live' end;
end
$$;

-- Name: fn_outbox_rebase(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_outbox_rebase(p_actor text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_last penstock.outbox_tick;
  v_base bigint;
begin
  lock table penstock.event_outbox in access exclusive mode;
  select * into v_last from penstock.outbox_tick t order by t.tick_id desc limit 1;
  if v_last.system_identifier = (select c.system_identifier from pg_control_system() c) then
    return (select b.base from penstock.outbox_base b);
  end if;
  -- also above what a transaction may still emit that is open now
  select greatest(0, 1 + greatest(max(e.tx_id)::text::bigint, pg_snapshot_xmax(v_last.snapshot)::text::bigint)
                     - pg_snapshot_xmin(pg_current_snapshot())::text::bigint)
    into v_base from penstock.event_outbox e;
  update penstock.outbox_base b set base = v_base, rebased_at = now(), rebased_by = v_actor;
  execute format('alter table penstock.event_outbox alter tx_id set default penstock.tx_shifted(pg_current_xact_id(), %s)', v_base);
  -- a number the last tick had not seen, and a transaction it had: that is one of this cluster
  update penstock.event_outbox e set tx_id = penstock.tx_shifted(pg_current_xact_id(), v_base)
   where e.seq > v_last.head and pg_visible_in_snapshot(e.tx_id, v_last.snapshot);
  perform penstock.outbox_tick_insert(false);
  return v_base;
end
$$;

-- Name: fn_outbox_tick(boolean, interval); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_outbox_tick(p_force boolean DEFAULT false, p_within interval DEFAULT '00:00:01'::interval) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_is_fresh boolean := pg_current_xact_id_if_assigned() is null;
  v_lock bigint := hashtextextended('penstock.outbox_tick', 0);
  v_tick bigint;
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception using errcode = 'PS011', message = format('a tick cannot be made in a transaction that is %s',
      current_setting('transaction_isolation')), hint = 'Its snapshot is that of its first statement. Call it on its own.';
  end if;
  perform penstock.outbox_guard();
  if not p_force and not penstock.outbox_is_due(p_within) then
    return null;
  end if;
  begin
    perform pg_advisory_lock(v_lock);
    v_tick := penstock.outbox_tick_insert(v_is_fresh);
    perform pg_advisory_unlock(v_lock);
  exception when query_canceled or others then
    perform pg_advisory_unlock(v_lock);
    raise;
  end;
  return v_tick;
end
$$;

-- Name: fn_piece_axis_refresh(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_piece_axis_refresh(p_address text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_document penstock.iu_document := penstock.piece_document_locked(p_address);
  v_axis penstock.iu_axis;
begin
  if v_document.document is null then
    return null;
  end if;
  insert into penstock.iu_axis as a (document, revision, live, changed, deprecated)
  select v_document.document, v_document.revision, count(*) filter (where p.deprecated_at is null),
         count(*) filter (where p.deprecated_at is null and p.changed_at is not null), count(p.deprecated_at)
    from penstock.iu_piece p where p.document = v_document.document
  on conflict (document) do update
    set revision = excluded.revision, live = excluded.live, changed = excluded.changed, deprecated = excluded.deprecated,
        refreshed_at = now()
  returning * into v_axis;
  return to_jsonb(v_axis) - 'refreshed_at';
end
$$;

-- Name: fn_piece_recompose(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_piece_recompose(p_address text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_document penstock.iu_document := penstock.piece_document_locked(p_address);
  v_is_due boolean := not exists (select from penstock.iu_composition c
                                   where c.document = v_document.document and c.revision = v_document.revision);
begin
  if v_document.document is null then
    return null;
  end if;
  if v_is_due then
    insert into penstock.iu_composition as c (document, revision, piece_ids, size_bytes, sha256)
    select v_document.document, v_document.revision, coalesce(array_agg(p.piece_id order by p.position), '{}'),
           coalesce(sum(p.size_bytes), 0), sha256(coalesce(string_agg(p.bytes, ''::bytea order by p.position), ''::bytea))
      from penstock.iu_piece p where p.document = v_document.document and p.deprecated_at is null
    on conflict (document) do update
      set revision = excluded.revision, piece_ids = excluded.piece_ids, size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
          composed_at = now();
  end if;
  return jsonb_build_object('document', v_document.document, 'revision', v_document.revision, 'composed', v_is_due);
end
$$;

-- Name: fn_pool_set(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_pool_set(p_pool text, p_note text DEFAULT NULL::text, p_actor text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if coalesce(p_pool, '') !~ '^[a-z][a-z0-9_-]{0,62}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be a pool', p_pool),
      hint = 'Use lower-case letters, digits, _ and -, at most 63, beginning with a letter.';
  end if;
  insert into penstock.pool (pool, note, set_by) values (p_pool, p_note, v_actor)
  on conflict (pool) do update set note = coalesce(excluded.note, penstock.pool.note), set_by = excluded.set_by, set_at = now();
end
$_$;

-- Name: fn_queue_farewell(text, uuid); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_queue_farewell(p_executor_id text, p_incarnation uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform penstock.executor_checked(p_executor_id);
  delete from penstock.queue_heartbeat h where h.incarnation = p_incarnation and h.executor_id = p_executor_id;
end
$$;

-- Name: fn_queue_heartbeat(text, text, uuid, text[], text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_incarnation uuid DEFAULT NULL::uuid, p_kinds text[] DEFAULT NULL::text[], p_pools text[] DEFAULT NULL::text[]) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_incarnation uuid := coalesce(p_incarnation, gen_random_uuid());
  v_executor penstock.executor;
begin
  perform penstock.executor_kind_check(p_executor_kind);
  v_executor := penstock.executor_checked(p_executor_id);
  if v_executor.executor_kind <> p_executor_kind then
    raise exception using errcode = 'PS002',
      message = format('executor %s is registered as %s, not as %s', p_executor_id, v_executor.executor_kind, p_executor_kind);
  end if;
  perform penstock.pools_check(p_pools);
  perform penstock.heartbeat_write(v_executor, v_incarnation, p_kinds, p_pools);
  return v_incarnation;
end
$$;

-- Name: fn_queue_reap_stale_leases(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_queue_reap_stale_leases(p_limit integer DEFAULT 1000) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select penstock.leases_reap(greatest(p_limit, 0))
$$;

-- Name: fn_queue_tick(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_queue_tick() RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_report jsonb := '{}';
  v_part text;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('penstock.tick', 0)) then
    return jsonb_build_object('skipped', 'another tick is running');
  end if;
  -- the outbox first, before anything gives this transaction a number: else its tick could not tell who is still open
  foreach v_part in array array['outbox', 'promote', 'awaiting', 'reap', 'silence', 'lanes', 'analyze', 'partitions', 'subscriptions',
                                'cursors', 'workflows', 'schedules', 'dispatch', 'routes', 'broadcasts', 'events_audit', 'events_sweep',
                                'once_keys', 'staging', 'history'] loop
    v_report := v_report || jsonb_build_object(v_part, penstock.tick_part(v_part));
  end loop;
  return v_report;
end
$$;

-- Name: fn_runtime_lease(text, uuid, bigint, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_runtime_lease(p_subscription text, p_incarnation uuid, p_token bigint DEFAULT NULL::bigint, p_backlog bigint DEFAULT NULL::bigint) RETURNS TABLE(token bigint, lease_until timestamp with time zone, state text, version integer, positions jsonb, counts jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_held penstock.subscription_runtime;
  v_rolls boolean;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  if v_held.path is null then
    raise exception using errcode = 'PS017', message = format('subscription %s is not registered', p_subscription),
      hint = 'Register it: penstock subscription register FILE';
  end if;
  if p_token is not null then
    if v_held.incarnation is distinct from p_incarnation or v_held.token < p_token then
      perform penstock.runtime_checked(p_subscription, v_held, p_token);
    end if;
  elsif v_held.lease_until > clock_timestamp() and v_held.incarnation is distinct from p_incarnation then
    raise exception using errcode = 'PS020', message = format('subscription %s is held by another runtime until %s', p_subscription,
      to_char(v_held.lease_until at time zone 'UTC', 'HH24:MI:SS "UTC"')),
      hint = 'One runtime reads a subscription. Stop the other one; its place is free when its lease has ended.';
  end if;
  v_rolls := v_held.rate_next < clock_timestamp() - interval '30 seconds';
  update penstock.subscription_runtime r
     set token = case when p_token is null then nextval('penstock.runtime_token_seq') else r.token end, incarnation = p_incarnation,
         lease_until = penstock.runtime_until(),
         version = case when p_token is null then (select s.version from penstock.subscription s where s.path = r.path) else r.version end,
         started_at = case when p_token is null then clock_timestamp() else r.started_at end,
         rate_since = case when p_token is null then clock_timestamp() when v_rolls then r.rate_next else r.rate_since end,
         rate_received = case when p_token is null then r.received when v_rolls then r.rate_next_received else r.rate_received end,
         rate_next = case when p_token is null or v_rolls then clock_timestamp() else r.rate_next end,
         rate_next_received = case when p_token is null or v_rolls then r.received else r.rate_next_received end,
         backlog = coalesce(p_backlog, r.backlog), backlog_at = case when p_backlog is null then r.backlog_at else clock_timestamp() end,
         backlog_since = case when p_backlog is null then r.backlog_since
                              when p_backlog > 0 then coalesce(r.backlog_since, clock_timestamp()) end,
         is_stalled = r.is_stalled and p_backlog is distinct from 0
   where r.path = p_subscription;
  return query
    select r.token, r.lease_until, s.state, case when p_token is null then r.version else s.version end,
           coalesce((select jsonb_object_agg(p.part, jsonb_build_object('identity', p.identity, 'next', p.next_offset,
                                                                 'floor', p.floor_offset))
                       from penstock.ingest_position p where p.path = s.path), '{}'),
           jsonb_build_object('executions', r.executions, 'deduplicated', r.deduplicated, 'dead_lettered', r.dead_lettered,
             'replays', r.replays, 'batches', r.batches, 'recent', r.recent, 'backlog', r.backlog,
             'last_commit_s', extract(epoch from r.last_commit_at), 'begun', r.begun, 'ledger', r.ledger)
      from penstock.subscription_runtime r join penstock.subscription s using (path) where r.path = p_subscription;
end
$$;

-- Name: fn_runtime_once(text, bigint, uuid, text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_runtime_once(p_subscription text, p_runtime_token bigint, p_request uuid, p_call text, p_asked jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_scope text := 'call:' || p_subscription;
  v_key text := format('%s:%s:%s', p_runtime_token, p_call, p_request);
  v_answer jsonb := '{}';
begin
  if p_call <> 'said' then
    perform from penstock.subscription_runtime r where r.path = p_subscription for update;
  end if;
  insert into penstock.once_key (scope, key, ref, expires_at) values (v_scope, v_key, '{}', now() + interval '1 hour')
  on conflict (scope, key) do nothing;
  if not found then
    -- a NEW statement: only its snapshot is sure to see the row we collided with
    return (select k.ref::jsonb from penstock.once_key k where k.scope = v_scope and k.key = v_key);
  end if;
  if p_call = 'commit' then
    v_answer := penstock.fn_ingest_commit(p_subscription, p_runtime_token, p_asked -> 'positions', p_asked -> 'expected',
                                          coalesce((p_asked ->> 'lane')::int, 0));
  elsif p_call = 'positions' then
    perform penstock.fn_ingest_position_set(p_subscription, p_runtime_token, p_asked -> 'positions', p_asked ->> 'reason',
                                            p_asked -> 'detail');
  elsif p_call = 'said' then
    perform penstock.fn_runtime_said(p_subscription, p_runtime_token, p_asked ->> 'happening', p_asked -> 'detail');
  else
    raise exception using errcode = 'PS011', message = format('a runtime does not call %L', p_call);
  end if;
  update penstock.once_key k set ref = v_answer::text where k.scope = v_scope and k.key = v_key and v_answer <> '{}';
  return v_answer;
end
$$;

-- Name: fn_runtime_release(text, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_runtime_release(p_subscription text, p_token bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_held penstock.subscription_runtime;
  v_state text;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  perform penstock.runtime_checked(p_subscription, v_held, p_token);
  update penstock.subscription_runtime r
     set lease_until = null, released_at = clock_timestamp(), incarnation = null, is_stalled = false,
         -- what waits at the source is known to whoever reads it
         backlog = null, backlog_at = null, backlog_since = null
   where r.path = p_subscription;
  perform penstock.stage_drop(penstock.stage_name(p_subscription, p_token, lane)) from generate_series(0, 1) lane;
  v_state := penstock.subscription_locked(p_subscription);
  if v_state = 'DRAINING' then
    v_state := penstock.subscription_moved(p_subscription, 'DEACTIVATED', 'system:runtime');
  end if;
  return v_state;
end
$$;

-- Name: fn_runtime_said(text, bigint, text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_runtime_said(p_subscription text, p_token bigint, p_happening text, p_detail jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_held penstock.subscription_runtime;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription;
  perform penstock.runtime_checked(p_subscription, v_held, p_token);
  if p_happening !~ '^(rate_limited|data_loss_refused|read_again|source_unavailable|source_recovered|query_failing)$' then
    raise exception using errcode = 'PS011', message = format('a runtime does not say %L', p_happening);
  end if;
  perform penstock.subscription_event(p_subscription, p_happening, 'system:runtime', p_detail);
end
$_$;

-- Name: fn_schedule_drop(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_schedule_drop(p_schedule_id text, p_actor text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform penstock.actor_checked(p_actor);
  delete from penstock.schedule s where s.schedule_id = p_schedule_id;
  return found;
end
$$;

-- Name: fn_schedule_set(text, jsonb, text, interval, text, boolean, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_schedule_set(p_schedule_id text, p_job jsonb, p_cron text DEFAULT NULL::text, p_every interval DEFAULT NULL::interval, p_timezone text DEFAULT 'UTC'::text, p_enabled boolean DEFAULT true, p_actor text DEFAULT NULL::text) RETURNS timestamp with time zone
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_timezone text := penstock.timezone_checked(coalesce(p_timezone, 'UTC'));
  v_next timestamptz;
begin
  if p_schedule_id is null or p_schedule_id !~ '^[A-Za-z0-9][A-Za-z0-9_./-]{0,99}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be a schedule_id', p_schedule_id),
      hint = 'Use letters, digits and _ . / -, at most 100, beginning with a letter or digit.';
  end if;
  if num_nonnulls(p_cron, p_every) <> 1 then
    raise exception using errcode = 'PS011', message = format('schedule %s: give either p_cron or p_every', p_schedule_id);
  end if;
  if p_every is not null and (p_every not between interval '1 second' and interval '1826 days'
                              or extract(year from p_every) <> 0 or extract(month from p_every) <> 0) then
    raise exception using errcode = 'PS008',
      message = format('schedule %s: every %s is not between 1 second and 1826 days', p_schedule_id, p_every),
      hint = 'Months and years differ in length: use a cron line, such as 0 0 1 * *.';
  end if;
  perform penstock.job_request_check(array[penstock.schedule_request(p_job, v_actor, null)]);
  v_next := penstock.schedule_next(p_cron, p_every, v_timezone, now());

  insert into penstock.schedule as s (schedule_id, cron, every, timezone, job, enabled, next_run_at, set_by)
  values (p_schedule_id, p_cron, p_every, v_timezone, p_job, coalesce(p_enabled, true), v_next, v_actor)
  on conflict (schedule_id) do update set
    cron = excluded.cron, every = excluded.every, timezone = excluded.timezone, job = excluded.job,
    enabled = excluded.enabled, set_by = excluded.set_by, set_at = now(), last_error = null,
    next_run_at = case
      when (s.cron, s.every, s.timezone) is distinct from (excluded.cron, excluded.every, excluded.timezone)
        then excluded.next_run_at
      when excluded.enabled and not s.enabled and s.next_run_at <= now()
        then penstock.schedule_next(s.cron, s.every, s.timezone, s.next_run_at)
      else s.next_run_at end
  returning s.next_run_at into v_next;
  return v_next;
end
$_$;

-- Name: fn_sql_event_call(text, jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_sql_event_call(p_route_code text, p_args jsonb DEFAULT NULL::jsonb, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
declare
  v_call record;
  v_given record;
  v_result jsonb;
begin
  v_call := penstock.sql_call_statement(p_route_code, p_args);
  if not v_call.gives then
    execute v_call.statement using p_args;
  elsif v_call.statement like 'call %' then
    execute v_call.statement into v_given using p_args;
    v_result := to_jsonb(v_given);
  else
    execute v_call.statement into v_result using p_args;
  end if;
  perform penstock.sql_call_done(p_route_code, p_args, p_actor);
  return v_result;
end
$$;

-- Name: fn_sql_event_route_apply(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_sql_event_route_apply(p_route_code text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
declare
  v_route penstock.iu_sql_event_route;
begin
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code for update;
  if v_route.route_code is null then
    raise exception using errcode = 'PS011', message = format('there is no SQL route %L', p_route_code);
  end if;
  if v_route.source_object_kind = 'table' then
    perform penstock.sql_route_trigger(v_route);
  elsif v_route.source_object_kind = 'database' then
    perform penstock.sql_route_ddl(v_route);
  end if;
  return penstock.sql_route_state(v_route);
end
$$;

-- Name: fn_sql_event_route_set(text, jsonb, boolean, boolean, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_sql_event_route_set(p_route_code text, p_definition jsonb DEFAULT NULL::jsonb, p_enabled boolean DEFAULT NULL::boolean, p_dry_run boolean DEFAULT NULL::boolean, p_reviewed_by text DEFAULT NULL::text, p_actor text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_route penstock.iu_sql_event_route;
begin
  if p_definition is not null then
    perform penstock.sql_route_defined(penstock.sql_route_read(p_route_code, p_definition, v_actor));
  end if;
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code for update;
  if v_route.route_code is null then
    raise exception using errcode = 'PS011', message = format('there is no SQL route %L', p_route_code);
  end if;
  if p_reviewed_by is not null then
    v_route.reviewed_by := penstock.actor_checked(p_reviewed_by);
    v_route.reviewed_at := now();
    perform penstock.review_check('SQL route ' || p_route_code, exists (
      select from penstock.sql_event_route_note n where n.route_code = p_route_code and n.outcome = 'dry_run' and n.events > 0
         and n.noted_at >= v_route.registered_at));
  end if;
  v_route.enabled := coalesce(p_enabled, v_route.enabled);
  v_route.dry_run := coalesce(p_dry_run, v_route.dry_run);
  perform penstock.live_check('SQL route ' || p_route_code, v_route.enabled and not v_route.dry_run, v_route.reviewed_at,
    format('penstock route review %s --sql', p_route_code));
  if v_route.enabled then
    -- what is forbidden may have changed since
    perform penstock.sql_route_names_check(v_route);
  end if;
  update penstock.iu_sql_event_route r
     set enabled = v_route.enabled, dry_run = v_route.dry_run, reviewed_by = v_route.reviewed_by, reviewed_at = v_route.reviewed_at,
         live_at = case when v_route.enabled and not v_route.dry_run then coalesce(r.live_at, now()) end
   where r.route_code = p_route_code;
  return penstock.fn_sql_event_route_apply(p_route_code);
end
$$;

-- Name: fn_staging_cleanup(bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_staging_cleanup(p_staging_ids bigint[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_gone integer;
begin
  delete from penstock.iu_staging_record r
   where r.staging_id in (select o.staging_id from penstock.iu_staging_record o
                           where o.staging_id = any (p_staging_ids) and o.state = 'cut_verified' order by o.staging_id for update);
  get diagnostics v_gone = row_count;
  return v_gone;
end
$$;

-- Name: fn_staging_expire(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_staging_expire(p_limit integer DEFAULT 1000) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_refs text[];
  v_payloads jsonb[];
begin
  with due as (
    select r.staging_id from penstock.iu_staging_record r
     where r.expired_at is null
       and r.staged_at < now() - penstock.config_text('markcut.staging.keep_days', '15')::integer * interval '1 day'
     order by r.staged_at limit p_limit for update skip locked),
  gone as (
    update penstock.iu_staging_record r set expired_at = now() from due where r.staging_id = due.staging_id
    returning r.staging_id, r.run, r.document)
  select array_agg(g.run || ':' || g.document order by g.staging_id),
         array_agg(jsonb_build_object('staging_id', g.staging_id, 'run', g.run, 'document', g.document) order by g.staging_id)
    into v_refs, v_payloads from gone g;
  perform penstock.events_insert('staging', 'record_expired', 'penstock.iu_staging_record', v_refs, v_payloads, 'system:staging', null);
  return coalesce(cardinality(v_refs), 0);
end
$$;

-- Name: fn_staging_sweep(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_staging_sweep(p_limit integer DEFAULT 1000) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_gone integer;
begin
  delete from penstock.iu_staging_record r
   where r.staging_id in (select o.staging_id from penstock.iu_staging_record o
                           where o.expired_at is not null order by o.expired_at limit p_limit for update skip locked);
  get diagnostics v_gone = row_count;
  return v_gone;
end
$$;

-- Name: fn_staging_write(text, text[], text[], bytea[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_staging_write(p_run text, p_documents text[], p_formats text[], p_bytes bytea[]) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $_$
declare
  v_staged integer;
begin
  if coalesce(p_run, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be the name of a run', p_run),
      hint = 'A letter or digit, then letters, digits and _ . : / -, at most 200.';
  end if;
  if cardinality(p_documents) <> cardinality(p_formats) or cardinality(p_documents) <> cardinality(p_bytes)
     or exists (select from unnest(p_documents, p_formats, p_bytes) g(d, f, b)
                 where d is null or length(d) not between 1 and 1000 or f is null or f not in ('markdown', 'text') or b is null) then
    raise exception using errcode = 'PS011', message = 'every document needs a name of 1 to 1000 characters, a format (markdown or text) '
      'and its bytes';
  end if;
  delete from penstock.iu_staging_record r using unnest(p_documents, p_formats, p_bytes) g(d, f, b)
   where r.run = p_run and r.document = g.d and (r.format <> g.f or r.size_bytes <> length(g.b) or r.sha256 <> sha256(g.b));
  insert into penstock.iu_staging_record (run, document, format, size_bytes, sha256, bytes)
  select p_run, g.d, g.f, length(g.b), sha256(g.b), g.b
    from unnest(p_documents, p_formats, p_bytes) g(d, f, b)
   where not exists (select from penstock.iu_staging_record r where r.run = p_run and r.document = g.d)
   order by g.d
  on conflict (run, document) do nothing;
  get diagnostics v_staged = row_count;
  return jsonb_build_object('staged', v_staged, 'known', cardinality(p_documents) - v_staged);
end
$_$;

-- Name: fn_subscription_move(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_subscription_move(p_path text, p_action text, p_actor text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_state text := penstock.subscription_locked(p_path);
  v_new text;
begin
  select m.to_state into v_new from penstock.subscription_moves() m where m.action = p_action and m.from_state = v_state;
  if v_new is null then
    raise exception using errcode = 'PS009', message = format('subscription %s is %s: it cannot %s', p_path, v_state, p_action),
      hint = (select 'Legal now: ' || string_agg(m.action, ', ' order by m.action) || '.'
                from penstock.subscription_moves() m where m.from_state = v_state and m.from_state <> m.to_state);
  end if;
  if v_new = v_state then
    return v_state;
  end if;
  if p_action in ('activate', 'resume') then
    perform penstock.subscription_activable(p_path);
  end if;
  return penstock.subscription_moved(p_path, v_new, v_actor);
end
$$;

-- Name: fn_token_check(text, bytea); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_token_check(p_token_id text, p_secret_sha256 bytea) RETURNS TABLE(actor text, scopes text[], paths text[], state text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select v.actor::text, v.scopes, v.paths, v.state
    from penstock.api_token t join penstock.v_api_token v using (token_id)
   cross join (select uuid_send(gen_random_uuid()) offset 0) b(blind)
   where t.token_id = p_token_id and sha256(t.secret_sha256 || b.blind) = sha256(p_secret_sha256 || b.blind)
$$;

-- Name: fn_token_create(text, bytea, text, text[], timestamp with time zone, text, text, text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_token_create(p_token_id text, p_secret_sha256 bytea, p_actor text, p_scopes text[], p_expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_note text DEFAULT NULL::text, p_created_by text DEFAULT NULL::text, p_paths text[] DEFAULT NULL::text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_by penstock.actor_ref := penstock.actor_checked(p_created_by);
  v_known text[] := array['execute', 'events', 'internal', 'metrics'];
  v_unknown text;
begin
  if p_actor is null or not penstock.actor_is_wellformed(p_actor) or p_actor ~ '^(consumer|system):' then
    raise exception using errcode = 'PS004', message = format('a token cannot speak for %L', p_actor),
      hint = 'An actor is role:, agency:, user: or agent: and a name without spaces.';
  end if;
  select s into v_unknown from unnest(p_scopes) s where s is null or s <> all (v_known) limit 1;
  if found or coalesce(cardinality(p_scopes), 0) = 0 then
    raise exception using errcode = 'PS011', message = case when found then format('there is no scope %L', v_unknown)
      else 'a token without a scope opens nothing' end, hint = 'Scopes are ' || array_to_string(v_known, ', ') || '.';
  end if;
  if p_paths is not null and (cardinality(p_paths) = 0 or 'internal' <> all (p_scopes)) then
    raise exception using errcode = 'PS011', message = 'paths narrow the scope internal, which this token lacks, or would open nothing',
      hint = 'Name the subscriptions a runtime may hold, together with the scope internal; without paths it opens all.';
  end if;
  select p into v_unknown from unnest(p_paths) p where p is null or p !~ '^[A-Za-z0-9][A-Za-z0-9_./-]{0,199}$' limit 1;
  if found then
    raise exception using errcode = 'PS011', message = format('%L is no path of a subscription', v_unknown);
  end if;
  if p_expires_at <= now() then
    raise exception using errcode = 'PS011', message = 'the token would have expired already';
  end if;
  if p_token_id is null or p_token_id !~ '^[a-z2-7]{16}$' or octet_length(p_secret_sha256) is distinct from 32 or length(p_note) > 500 then
    raise exception using errcode = 'PS011',
      message = 'a token has an id of 16 characters (a-z, 2-7), a hash of 32 bytes, and a note of at most 500 characters';
  end if;
  insert into penstock.api_token (token_id, secret_sha256, actor, scopes, paths, note, created_by, expires_at)
  values (p_token_id, p_secret_sha256, p_actor, array(select distinct s from unnest(p_scopes) s order by s),
          (select array_agg(distinct p order by p) from unnest(p_paths) p), p_note, v_by, p_expires_at);
exception when unique_violation then
  raise exception using errcode = 'PS011', message = format('there is a token %s already', p_token_id);
end
$_$;

-- Name: fn_token_revoke(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.fn_token_revoke(p_token_id text, p_actor text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  update penstock.api_token t set revoked_at = clock_timestamp(), revoked_by = v_actor
   where t.token_id = p_token_id and t.revoked_at is null;
  if found then
    return true;
  end if;
  if not exists (select from penstock.api_token t where t.token_id = p_token_id) then
    raise exception using errcode = 'PS028', message = format('there is no token %s', coalesce(p_token_id, 'null')),
      hint = 'penstock token list shows those there are.';
  end if;
  return false;
end
$$;

-- Name: forbidden_key_pattern(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.forbidden_key_pattern() RETURNS text
    LANGUAGE sql STABLE
    RETURN (('(?i)"('::text || regexp_replace(regexp_replace(TRIM(BOTH ', '::text FROM penstock.config_text('queue.forbidden_keys'::text, 'body,content,raw,vector,embedding,secret,token,password,ssn,personal_data'::text)), '([^[:alnum:]_, ])'::text, '\\\1'::text, 'g'::text), '\s*,[, ]*'::text, '|'::text, 'g'::text)) || ')":'::text);

-- Name: happened(bigint, text, penstock.actor_ref, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.happened(p_job_id bigint, p_happening text, p_actor penstock.actor_ref, p_detail jsonb DEFAULT NULL::jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform penstock.partition_ensure('execution_event', now());
  insert into penstock.execution_event (execution_id, job_id, happening, actor, detail)
  values (p_job_id, p_job_id, p_happening, p_actor, p_detail);
end
$$;

-- Name: heartbeat_write(penstock.executor, uuid, text[], text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.heartbeat_write(p_executor penstock.executor, p_incarnation uuid, p_kinds text[] DEFAULT NULL::text[], p_pools text[] DEFAULT NULL::text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_incarnation is null then
    raise exception using errcode = 'PS011', message = 'a beat needs an incarnation: the one its process claims with';
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('penstock.beat:' || p_executor.executor_id || ':' || p_incarnation, 0));
  insert into penstock.queue_heartbeat as h (incarnation, executor_id, executor_kind, kinds, pools)
  values (p_incarnation, p_executor.executor_id, p_executor.executor_kind, p_kinds, p_pools)
  on conflict (executor_id, incarnation) do update
    set beat_at = clock_timestamp(), silent_since = null, heard = true, kinds = coalesce(p_kinds, h.kinds),
        pools = coalesce(p_pools, h.pools);
end
$$;

-- Name: history_begins(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.history_begins() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
  select greatest(
    (select min((regexp_match(pg_get_expr(c.relpartbound, c.oid), 'from \(''([^'']+)''\)', 'i'))[1]::timestamptz)
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'penstock.job'::regclass and not i.inhdetachpending),
    (select now() - make_interval(days => k.days)
       from (select penstock.config_text('execution.keep_days', '0')::integer as days) k where k.days > 0))
$$;

-- Name: history_sweep(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.history_sweep(p_limit integer) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_before timestamptz := penstock.history_begins();
  v_last jsonb := coalesce((select t.report -> 'did' from penstock.queue_tick_part t where t.part = 'history'), '{}');
  v_executions integer := penstock.workflows_forget(v_before, p_limit);
  v_steps integer := penstock.steps_forget(5 * p_limit);
  v_more boolean := v_executions = p_limit or v_steps = 5 * p_limit;
  v_inputs record;
  v_results record;
begin
  -- what is left of workflows first: a result is looked for among the steps of all that are not gone
  if v_more then
    return v_last || jsonb_build_object('executions', v_executions, 'steps', v_steps, 'inputs', 0, 'results', 0, 'more', true);
  end if;
  select * into v_inputs from penstock.inputs_forget(v_before, coalesce((v_last ->> 'inputs_after')::bigint, 0), p_limit);
  select * into v_results from penstock.results_forget(v_before, coalesce((v_last ->> 'results_after')::bigint, 0), p_limit);
  return jsonb_build_object(
    'executions', v_executions, 'steps', v_steps, 'inputs', v_inputs.gone, 'inputs_after', v_inputs.after, 'results', v_results.gone,
    'results_after', v_results.after, 'more', p_limit in (v_inputs.gone, v_results.gone));
end
$$;

-- Name: ingest_dead(text, text, penstock.ingest_verdict[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_dead(p_subscription text, p_stage text, p_verdicts penstock.ingest_verdict[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_reason record;
begin
  if not exists (select from unnest(p_verdicts) v where v.verdict = 'dead') then
    return;
  end if;
  execute format($sql$
    insert into penstock.ingest_dead_letter (
      subscription, message_id, part, source_offset, published_at, message_key, body, attributes, playbook, pool,
      dedup_key, trace, directives, fault, reason, lane, delivery_attempt)
    select $1, s.message_id, s.part, s.source_offset, s.published_at, s.message_key, s.body, s.attributes::json,
           s.playbook, s.pool, s.dedup_key, s.trace, s.directives::json, s.fault, v.reason, s.lane,
           s.delivery_attempt
      from unnest($2) v join penstock.%I s on s.job_id = v.job_id
     where v.verdict = 'dead' order by s.job_id$sql$, p_stage) using p_subscription, p_verdicts;
  for v_reason in select v.reason, count(*) as n from unnest(p_verdicts) v where v.verdict = 'dead' group by v.reason loop
    perform penstock.subscription_event(p_subscription, 'message.dead_lettered', 'system:ingest',
      jsonb_build_object('reason', v_reason.reason, 'messages', v_reason.n));
  end loop;
end
$_$;

-- Name: ingest_dead_letter; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.ingest_dead_letter (
    dead_letter_id bigint NOT NULL,
    subscription text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    part text NOT NULL COLLATE pg_catalog."C",
    source_offset bigint NOT NULL,
    published_at timestamp with time zone,
    message_key bytea,
    body bytea,
    attributes json NOT NULL,
    playbook text COLLATE pg_catalog."C",
    pool text COLLATE pg_catalog."C",
    dedup_key text COLLATE pg_catalog."C",
    trace text,
    directives json,
    fault text,
    reason text NOT NULL,
    error jsonb,
    dead_at timestamp with time zone DEFAULT now() NOT NULL,
    resolved_at timestamp with time zone,
    resolved_by penstock.actor_ref,
    resolution text,
    replay_execution_id bigint,
    lane text COLLATE pg_catalog."C",
    delivery_attempt integer
);

-- Name: ingest_dead_letter_locked(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_dead_letter_locked(p_dead_letter_id bigint) RETURNS penstock.ingest_dead_letter
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_letter penstock.ingest_dead_letter;
begin
  select * into v_letter from penstock.ingest_dead_letter d where d.dead_letter_id = p_dead_letter_id for update;
  perform penstock.dead_letter_check('ingest-' || p_dead_letter_id, v_letter.dead_letter_id is not null, v_letter.resolution,
    v_letter.resolved_by, v_letter.resolved_at);
  return v_letter;
end
$$;

-- Name: ingest_dedup_until(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_dedup_until(p_content jsonb) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select now() + interval '1 second' * coalesce((p_content #>> '{spec,dedup,window_s}')::bigint,
           penstock.config_text('queue.once_key.ttl_s.dedup', '86400')::bigint)
   where p_content #> '{spec,dedup}' is not null and p_content #>> '{spec,dedup,enabled}' is distinct from 'false'
$$;

-- Name: ingest_deduplicated(text, text, penstock.ingest_verdict[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_deduplicated(p_subscription text, p_stage text, p_verdicts penstock.ingest_verdict[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
  if not exists (select from unnest(p_verdicts) v where v.verdict = 'deduplicated') then
    return;
  end if;
  perform penstock.partition_ensure('execution_event', now());
  execute format($sql$
    insert into penstock.execution_event (execution_id, job_id, happening, actor, detail, subscription)
    select v.execution_id, v.execution_id, 'subscription.message.deduplicated', 'system:ingest',
           jsonb_build_object('message_id', s.message_id, 'key', v.reason), $1
      from unnest($2) v join penstock.%I s on s.job_id = v.job_id
     where v.verdict = 'deduplicated' order by s.job_id$sql$, p_stage) using p_subscription, p_verdicts;
end
$_$;

-- Name: ingest_duplicates(text, text, text[], jsonb, timestamp with time zone, penstock.ingest_verdict[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_duplicates(p_subscription text, p_stage text, p_attempts text[], p_positions jsonb, p_until timestamp with time zone, p_known penstock.ingest_verdict[]) RETURNS penstock.ingest_verdict[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_scope text := 'dedup:' || p_subscription;
  v_key text := $sql$coalesce('key:' || s.dedup_key,
    'id:' || coalesce(s.identity, concat_ws(':', $4 -> s.part ->> 'identity', s.message_id))) collate "C"$sql$;
  v_first bigint[];
  v_duplicates penstock.ingest_verdict[];
begin
  execute format($sql$
    with first as (
      select distinct on (x.key) x.key, x.job_id
        from (select %2$s as key, s.job_id
                from penstock.%1$I s left join unnest($2) k on k.job_id = s.job_id
               where s.attempt = any ($1) and k.job_id is null) x
       order by x.key, x.job_id
    ), taken as (
      insert into penstock.once_key as k (scope, key, ref, expires_at)
      select $3, f.key, f.job_id::text, $5 from first f order by f.key
      on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
      returning k.ref::bigint as job_id)
    select array_agg(t.job_id) from taken t$sql$, p_stage, v_key)
    into v_first using p_attempts, p_known, v_scope, p_positions, p_until;
  -- a NEW statement: only its snapshot is sure to see the rows the first one collided with
  execute format($sql$
    select coalesce(array_agg(row(s.job_id, 'deduplicated', k.key, k.ref::bigint)::penstock.ingest_verdict), '{}')
      from penstock.%1$I s
      left join unnest($2) v on v.job_id = s.job_id
      left join unnest($5) f(job_id) on f.job_id = s.job_id
      join penstock.once_key k on k.scope = $3 and k.key = %2$s
     where s.attempt = any ($1) and v.job_id is null and f.job_id is null$sql$, p_stage, v_key)
    into v_duplicates using p_attempts, p_known, v_scope, p_positions, v_first;
  return v_duplicates;
end
$_$;

-- Name: ingest_execute(text, integer, text, text[], jsonb, penstock.ingest_verdict[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_execute(p_subscription text, p_version integer, p_stage text, p_attempts text[], p_content jsonb, p_verdicts penstock.ingest_verdict[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_targets penstock.playbook_target[] := penstock.playbook_targets(array(select penstock.catalog_playbooks('Subscription', p_content)));
  v_playbook text := p_content #>> '{spec,dispatch,playbook}';
  v_pool text := p_content #>> '{spec,dispatch,execution_pool}';
  v_source bigint := (select s.subscription_id from penstock.subscription s where s.path = p_subscription
                         and coalesce(p_content #> '{spec,limits,max_in_flight}', p_content #> '{spec,runtime,max_in_flight}') is not null);
  -- of the column's own type: a text would be checked against it row by row
  v_actor penstock.actor_ref := 'system:ingest';
  v_lanes text[];
  v_rows text := format('penstock.%I s join unnest($2) t on t.path = coalesce(s.playbook, $3) '
    'where s.attempt = any ($1) and not exists (select from unnest($4) v where v.job_id = s.job_id)', p_stage);
begin
  perform penstock.partition_ensure('ingest_message', now());
  perform penstock.partition_ensure('job', now());
  execute 'insert into penstock.ingest_message (
      execution_id, ingested_at, subscription, version, message_id, part, source_offset, published_at, message_key, body, attributes,
      directives, delivery_attempt)
    select s.job_id, now(), $5, $6, s.message_id, s.part, s.source_offset, s.published_at, s.message_key, s.body, s.attributes::json,
           s.directives::json, s.delivery_attempt from ' || v_rows
    using p_attempts, v_targets, v_playbook, p_verdicts, p_subscription, p_version;
  if exists (select from unnest(v_targets) t where not t.is_single) then
    execute 'with begun as (
        insert into penstock.job_workflow (
          execution_id, started_at, playbook_ref, subscription, open, priority, pool, source_ref, payload_ref, trace, actor,
          idempotency_key, source, lane)
        select s.job_id, now(), t.ref, $5, 1, 0, coalesce(s.pool, $6), s.message_id, ''penstock://message/'' || s.job_id, s.trace, $7,
               s.dedup_key, $8, s.lane from ' || v_rows || ' and not t.is_single)
      insert into penstock.job_step (execution_id, step_id, visit, item, job_id, enqueued_at)
      select s.job_id, t.step_id, 1, 0, s.job_id, now() from ' || v_rows || ' and not t.is_single'
      using p_attempts, v_targets, v_playbook, p_verdicts, p_subscription, v_pool, v_actor, v_source;
  end if;
  execute 'insert into penstock.job (
      job_id, enqueued_at, execution_id, step, playbook_ref, subscription, job_kind,
      executor, pool, lane, priority, max_attempts, idempotency_key,
      source_ref, payload_ref, trace, actor)
    select s.job_id, now(), case when not t.is_single then s.job_id end, case when not t.is_single then t.step end, t.ref, $5, t.job_kind,
           t.executor, coalesce(s.pool, $6, t.pool, ''subscription''), coalesce(s.lane, t.lane), 0,
           t.max_attempts, s.dedup_key, s.message_id,
           ''penstock://message/'' || s.job_id, s.trace, $7 from ' || v_rows
    using p_attempts, v_targets, v_playbook, p_verdicts, p_subscription, v_pool, v_actor;
  -- the lane's jobs wait for their turn; a subscription whose playbooks have no lane has none of them
  execute 'insert into penstock.job_queue (
      job_id, enqueued_at, status, priority, max_attempts, executor, job_kind, pool, lane, source, step_id, execution_id, visit, item)
    select s.job_id, now(), case when coalesce(s.lane, t.lane) is null then ''ready''::penstock.job_status else ''blocked'' end,
           0, t.max_attempts, t.executor, t.job_kind, coalesce(s.pool, $6, t.pool, ''subscription''), coalesce(s.lane, t.lane),
           $7, t.step_id,
           case when not t.is_single then s.job_id end, case when not t.is_single then 1 end, case when not t.is_single then 0 end from '
    || v_rows
    using p_attempts, v_targets, v_playbook, p_verdicts, p_subscription, v_pool, v_source;
  v_lanes := array(select distinct t.lane from unnest(v_targets) t where t.lane is not null);
  if p_content #> '{spec,lanes}' is not null then
    execute 'select array(select distinct coalesce(s.lane, t.lane) from ' || v_rows || ' and coalesce(s.lane, t.lane) is not null)'
      into v_lanes using p_attempts, v_targets, v_playbook, p_verdicts;
  end if;
  perform penstock.lanes_settle(v_lanes);
  perform penstock.wake(array['']);
end
$_$;

-- Name: ingest_expected_check(text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_expected_check(p_stage text, p_expected jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_wrong record;
begin
  if to_regclass('penstock.' || p_stage) is null then
    raise exception using errcode = 'PS021', message = format('the staging table %s is gone: nothing was committed', p_stage);
  end if;
  execute format($sql$
    select e.key as attempt, e.value::bigint as expected, coalesce(s.n, 0) as found
      from jsonb_each_text($1) e
      left join (select s.attempt, count(*) as n from penstock.%I s group by s.attempt) s on s.attempt = e.key
     where e.value::bigint <> coalesce(s.n, 0) limit 1$sql$, p_stage) into v_wrong using p_expected;
  if v_wrong.attempt is not null then
    raise exception using errcode = 'PS021',
      message = format('task attempt %s staged %s rows, %s are there: nothing was committed', v_wrong.attempt, v_wrong.expected,
                       v_wrong.found),
      hint = 'The server has crashed in between: the runtime starts again from the ledger.';
  end if;
end
$_$;

-- Name: ingest_fault(text, text, text, bytea, text[], text[], text[], boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_fault(p_fault text, p_playbook text, p_pool text, p_body bytea, p_allowed text[], p_known text[], p_pools text[], p_is_json boolean) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (p_fault IS NOT NULL) THEN p_fault WHEN (p_playbook <> ALL (p_allowed)) THEN 'playbook_not_allowed'::text WHEN (p_playbook <> ALL (p_known)) THEN 'playbook_gone'::text WHEN ((p_pool IS NOT NULL) AND (p_pool <> ALL (p_pools))) THEN 'pool_not_allowed'::text WHEN (p_is_json AND (p_body IS NOT NULL) AND (NOT penstock.bytes_are_json(p_body))) THEN 'bad_json'::text ELSE NULL::text END;

-- Name: ingest_faults(text, text[], jsonb, penstock.ingest_verdict[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_faults(p_stage text, p_attempts text[], p_content jsonb, p_known penstock.ingest_verdict[]) RETURNS penstock.ingest_verdict[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_faults penstock.ingest_verdict[];
  v_is_json boolean := coalesce(p_content #>> '{spec,dispatch,payload_from}', 'message.body') = 'message.json'
    and not penstock.bodies_are_json(p_stage, p_attempts);
begin
  execute format($sql$
    select coalesce(array_agg(row(f.job_id, 'dead', f.reason, null)::penstock.ingest_verdict), '{}')
      from (select s.job_id, penstock.ingest_fault(s.fault, coalesce(s.playbook, $3), s.pool, s.body, $4, $5, $6, $7) as reason
              from penstock.%I s left join unnest($2) k on k.job_id = s.job_id
             where s.attempt = any ($1) and k.job_id is null offset 0) f
     where f.reason is not null$sql$, p_stage)
    into v_faults
    using p_attempts, p_known, p_content #>> '{spec,dispatch,playbook}',
          array(select penstock.catalog_playbooks('Subscription', p_content)),
          penstock.playbooks_known(p_content), penstock.pools_known(p_content), v_is_json;
  return v_faults;
end
$_$;

-- Name: ingest_judge(text, text, text[], jsonb, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_judge(p_subscription text, p_stage text, p_attempts text[], p_content jsonb, p_positions jsonb) RETURNS penstock.ingest_verdict[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_until timestamptz := penstock.ingest_dedup_until(p_content);
  v_verdicts penstock.ingest_verdict[];
begin
  v_verdicts := penstock.ingest_replays(p_subscription, p_stage, p_attempts, p_positions);
  v_verdicts := v_verdicts || penstock.ingest_faults(p_stage, p_attempts, p_content, v_verdicts);
  if v_until is not null then
    v_verdicts := v_verdicts || penstock.ingest_duplicates(p_subscription, p_stage, p_attempts, p_positions, v_until, v_verdicts);
  end if;
  return v_verdicts;
end
$$;

-- Name: ingest_move(text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_move(p_subscription text, p_positions jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into penstock.ingest_position as p (path, part, identity, next_offset, floor_offset)
  select p_subscription, x.key, x.value ->> 'identity', (x.value ->> 'next')::bigint, coalesce((x.value ->> 'floor')::bigint, -1)
    from jsonb_each(p_positions) x order by x.key
  on conflict (path, part) do update set next_offset = greatest(p.next_offset, excluded.next_offset),
    floor_offset = greatest(p.floor_offset, excluded.floor_offset), moved_at = now();
  delete from penstock.once_key k
   using jsonb_each(p_positions) x
   where k.scope = 'message:' || p_subscription and x.value ? 'floor'
     and k.key between format('%s:%s:', x.key, x.value ->> 'identity') || repeat('0', 20)
                   and format('%s:%s:', x.key, x.value ->> 'identity') || lpad(x.value ->> 'floor', 20, '0');
  update penstock.subscription_runtime r set begun = true where r.path = p_subscription and not r.begun;
end
$$;

-- Name: ingest_replay(bigint, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_replay(p_dead_letter_id bigint, p_actor penstock.actor_ref) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_letter penstock.ingest_dead_letter := penstock.ingest_dead_letter_locked(p_dead_letter_id);
  v_content jsonb := (select c.content from penstock.subscription s join penstock.catalog c using (path, version)
                       where s.path = v_letter.subscription);
  v_playbook text := coalesce(v_letter.playbook, v_content #>> '{spec,dispatch,playbook}');
  v_fault text := penstock.ingest_fault(v_letter.fault, v_playbook, v_letter.pool, v_letter.body,
    array(select penstock.catalog_playbooks('Subscription', v_content)), penstock.playbooks_known(v_content),
    penstock.pools_known(v_content), coalesce(v_content #>> '{spec,dispatch,payload_from}', 'message.body') = 'message.json');
  v_target penstock.playbook_target := (penstock.playbook_targets(array[v_playbook]))[1];
  v_job_id bigint := nextval('penstock.job_id_seq');
  v_first bigint;
begin
  if v_fault is not null then
    raise exception using errcode = 'PS023', message = format('message %s still cannot be executed: %s', v_letter.message_id,
      coalesce((jsonb_build_object('bad_json', 'its body is not JSON', 'playbook_gone', 'its playbook is not in the catalog',
        'playbook_not_allowed', 'its subscription does not allow that playbook',
        'pool_not_allowed', 'its subscription does not allow that pool',
        'too_large', 'its body is larger than the API takes, and is at its source alone')) ->> v_fault, v_fault)),
      hint = format('Change what stands in its way, or discard it: penstock dlq discard ingest-%s --reason TEXT', p_dead_letter_id);
  end if;
  v_first := penstock.ingest_replay_first(v_letter, v_content, v_job_id, p_actor);
  if v_first <> v_job_id then
    return v_first;
  end if;
  perform penstock.partition_ensure('ingest_message', now());
  insert into penstock.ingest_message (
    execution_id, ingested_at, subscription, version, message_id, part, source_offset, published_at, message_key, body, attributes,
    directives, delivery_attempt)
  select v_job_id, now(), l.subscription, (select s.version from penstock.subscription s where s.path = l.subscription), l.message_id,
         l.part, l.source_offset, l.published_at, l.message_key, l.body, l.attributes,
         l.directives, l.delivery_attempt from penstock.ingest_dead_letter l where l.dead_letter_id = p_dead_letter_id;
  perform penstock.ingest_replay_start(v_letter, v_target, v_job_id,
    coalesce(v_letter.pool, v_content #>> '{spec,dispatch,execution_pool}'), p_actor);
  update penstock.ingest_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'replayed', replay_execution_id = v_job_id
   where d.dead_letter_id = p_dead_letter_id;
  perform penstock.subscription_event(v_letter.subscription, 'message.replayed', p_actor,
    jsonb_build_object('message_id', v_letter.message_id, 'dead_letter', 'ingest-' || p_dead_letter_id), v_job_id);
  return v_job_id;
end
$$;

-- Name: ingest_replay_first(penstock.ingest_dead_letter, jsonb, bigint, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_replay_first(p_letter penstock.ingest_dead_letter, p_content jsonb, p_job_id bigint, p_actor penstock.actor_ref) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_until timestamptz := penstock.ingest_dedup_until(p_content);
  v_key text := 'key:' || p_letter.dedup_key;
  v_first bigint;
begin
  if v_until is null or v_key is null then
    return p_job_id;
  end if;
  v_first := penstock.once_take('dedup:' || p_letter.subscription, v_key, p_job_id::text, 'dedup', v_until)::bigint;
  if v_first = p_job_id then
    return p_job_id;
  end if;
  update penstock.ingest_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'duplicate', replay_execution_id = v_first
   where d.dead_letter_id = p_letter.dead_letter_id;
  perform penstock.subscription_event(p_letter.subscription, 'message.deduplicated', p_actor,
    jsonb_build_object('message_id', p_letter.message_id, 'key', v_key, 'dead_letter', 'ingest-' || p_letter.dead_letter_id), v_first);
  return v_first;
end
$$;

-- Name: ingest_replay_start(penstock.ingest_dead_letter, penstock.playbook_target, bigint, text, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_replay_start(p_letter penstock.ingest_dead_letter, p_target penstock.playbook_target, p_execution bigint, p_pool text, p_actor penstock.actor_ref) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_target.is_single then
    perform penstock.job_insert(array[row(1, p_execution, p_target.job_kind, p_letter.dedup_key, p_target.executor, p_letter.message_id,
      null, 'penstock://message/' || p_execution, null, 0, null, null, null, p_actor, coalesce(p_pool, p_target.pool, 'subscription'),
      coalesce(p_letter.lane, p_target.lane), null, p_letter.trace, p_target.max_attempts, null, p_target.ref, p_letter.subscription,
      null)::penstock.job_request], p_checked => true);
    update penstock.job_queue q set step_id = p_target.step_id where q.job_id = p_execution and p_target.step_id is not null;
    return;
  end if;
  insert into penstock.job_workflow (
    execution_id, started_at, playbook_ref, subscription, open, priority, pool, source_ref, payload_ref, trace, actor, idempotency_key,
    lane)
  values (p_execution, now(), p_target.ref, p_letter.subscription, 1, 0, p_pool, p_letter.message_id,
          'penstock://message/' || p_execution, p_letter.trace, p_actor, p_letter.dedup_key, p_letter.lane);
  perform penstock.steps_start(array[
    row(p_execution, p_target.step_id, 1, 0, p_execution, null, null, null, null, null, false)::penstock.step_start]);
end
$$;

-- Name: ingest_replays(text, text, text[], jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.ingest_replays(p_subscription text, p_stage text, p_attempts text[], p_positions jsonb) RETURNS penstock.ingest_verdict[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_changed text;
  v_known penstock.ingest_verdict[];
begin
  select p.part into v_changed
    from penstock.ingest_position p join jsonb_each(p_positions) x on x.key = p.part
   where p.path = p_subscription and p.identity <> x.value ->> 'identity' limit 1;
  if v_changed is not null then
    raise exception using errcode = 'PS022',
      message = format('%s is not the one the ledger knows: it was made again since the runtime started', v_changed);
  end if;
  execute format($sql$
    select coalesce(array_agg(row(s.job_id, 'replay', null, null)::penstock.ingest_verdict), '{}')
      from penstock.%I s join penstock.ingest_position p on p.path = $1 and p.part = s.part
     where s.attempt = any ($2)
       and s.source_offset < case when s.identity is null then p.next_offset else p.floor_offset + 1 end$sql$, p_stage)
    into v_known using p_subscription, p_attempts;
  execute format($sql$
    with taken as (
      insert into penstock.once_key as k (scope, key, ref, expires_at)
      select distinct on (s.identity) 'message:' || $1, s.identity, s.job_id::text,
             coalesce(now() + interval '1 second' * ($4 -> s.part ->> 'keep_s')::bigint, 'infinity')
        from penstock.%1$I s left join unnest($3) k on k.job_id = s.job_id
       where s.attempt = any ($2) and s.identity is not null and k.job_id is null order by s.identity, s.job_id
      on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
      returning k.ref::bigint as job_id)
    select $3 || coalesce(array_agg(row(s.job_id, 'replay', null, null)::penstock.ingest_verdict), '{}')
      from penstock.%1$I s left join taken t on t.job_id = s.job_id left join unnest($3) k on k.job_id = s.job_id
     where s.attempt = any ($2) and s.identity is not null and t.job_id is null and k.job_id is null$sql$, p_stage)
    into v_known using p_subscription, p_attempts, v_known, p_positions;
  return v_known;
end
$_$;

-- Name: inputs_forget(timestamp with time zone, bigint, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.inputs_forget(p_before timestamp with time zone, p_after bigint, p_limit integer, OUT gone integer, OUT after bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_old bigint[];
begin
  select coalesce(array_agg(i.execution_id) filter (where i.created_at < p_before), '{}'),
         case when count(*) = p_limit and bool_or(i.created_at < p_before) then max(i.execution_id) else 0 end
    into v_old, after
    from (select i.execution_id, i.created_at from penstock.execution_input i
           where i.execution_id > p_after order by i.execution_id limit p_limit) i;
  -- offset 0: each is looked up by its id
  with recursive family as (
    select o as execution_id, o as job_id from unnest(v_old) o
    union
    select f.execution_id, d.replay_job_id
      from family f
     cross join lateral (select d.replay_job_id from penstock.job_dead_letter d
                          where d.job_id = f.job_id and d.replay_job_id is not null offset 0) d
  ), needed as (
    select f.execution_id
      from family f
     cross join lateral (select from penstock.job_queue q where q.job_id = f.job_id
                         union all
                         select from penstock.job_dead_letter d where d.job_id = f.job_id and d.resolved_at is null
                         union all
                         select from penstock.job_outcome o where o.job_id = f.job_id and o.finished_at >= p_before
                         union all
                         select from penstock.job_workflow w where w.execution_id = f.execution_id offset 0) n
  ), over as (
    delete from penstock.execution_input i
     where i.execution_id = any (array(select o from unnest(v_old) o except select n.execution_id from needed n)) returning 1)
  select count(*) into gone from over;
end
$$;

-- Name: job_answers(bigint[], bigint[], bigint[], bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_answers(p_job_ids bigint[], p_tokens bigint[], p_done bigint[], p_rules bigint[]) RETURNS TABLE(job_id bigint, accepted boolean, reason text)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  return query
    select x.job_id, d.ordinal is not null,
           case when d.ordinal is null
                then coalesce(nullif(penstock.job_refusal(x.job_id, x.token, p_rules), 'ok'), 'bad_result') end
      from unnest(p_job_ids, p_tokens) with ordinality x(job_id, token, ordinality)
      left join unnest(p_done) d(ordinal) on d.ordinal = x.ordinality
     order by x.ordinality;
  perform penstock.cancelled_settle(p_job_ids, p_tokens, p_rules);
end
$$;

-- Name: job_array_check(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_array_check(p_jobs jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_bad record;
  v_fields text[] := array['kind', 'idempotency_key', 'executor', 'source_ref', 'target_ref', 'payload_ref', 'safe_payload',
    'priority', 'process_after', 'correlation_id', 'causation_event_id', 'actor', 'pool', 'lane', 'event_domain', 'trace',
    'max_attempts'];
begin
  if p_jobs is null or jsonb_typeof(p_jobs) <> 'array' or jsonb_array_length(p_jobs) > 10000 then
    raise exception using errcode = 'PS011', message = 'p_jobs must be an array of at most 10,000 job objects';
  end if;
  select j.ordinality, case when jsonb_typeof(j.value) = 'object' then 'unknown field '
           || (select k from jsonb_object_keys(j.value - v_fields) k limit 1) else 'not an object' end as what
    into v_bad
    from jsonb_array_elements(p_jobs) with ordinality j
   where case when jsonb_typeof(j.value) = 'object' then j.value - v_fields <> '{}' else true end
   limit 1;
  if found then
    raise exception using errcode = 'PS011', message = format('job %s of the request: %s', v_bad.ordinality, v_bad.what),
      hint = 'The fields are the parameters of fn_job_enqueue without p_.';
  end if;
  if p_jobs::text ~ penstock.forbidden_key_pattern() then
    select j.ordinality into v_bad from jsonb_array_elements(p_jobs) with ordinality j
     where (j.value -> 'safe_payload')::text ~ penstock.forbidden_key_pattern() limit 1;
    if found then
      perform penstock.payload_check(p_jobs -> (v_bad.ordinality - 1)::integer -> 'safe_payload',
                                     format('safe_payload of job %s', v_bad.ordinality));
    end if;
  end if;
end
$$;

-- Name: job_insert(penstock.job_request[], boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_insert(p_rows penstock.job_request[], p_checked boolean DEFAULT false) RETURNS TABLE(ordinal integer, job_id bigint, created boolean)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  v_rows penstock.job_request[] := p_rows;
  v_heads integer[] := '{}';
  v_is_keyed boolean;
  v_is_laned boolean;
  v_domains text[];
begin
  if not p_checked then
    perform penstock.job_request_check(v_rows);
  end if;
  perform penstock.partition_ensure('job', now());
  select bool_or(r.idempotency_key is not null), bool_or(r.lane is not null),
         array_agg(distinct coalesce(r.event_domain, '')) filter (where r.process_after is null or r.process_after <= now())
    into v_is_keyed, v_is_laned, v_domains
    from unnest(v_rows) r;
  if v_is_keyed and not p_checked then
    v_rows := penstock.job_request_once(v_rows);
  end if;
  if v_is_laned then
    v_heads := penstock.lane_heads(v_rows);
  end if;

  insert into penstock.job (
    job_id, enqueued_at, job_kind, executor, pool, lane, event_domain, priority, process_after, max_attempts,
    idempotency_key, source_ref, target_ref, payload_ref, safe_payload, correlation_id, causation_event_id,
    causation_depth, trace, actor, replay_of, playbook_ref, subscription)
  select r.job_id, now(), r.kind, r.executor, r.pool, r.lane, r.event_domain, r.priority, r.process_after,
         r.max_attempts, r.idempotency_key, r.source_ref, r.target_ref, r.payload_ref, r.safe_payload,
         r.correlation_id, r.causation_event_id,
         coalesce(r.causation_depth,
                  case when r.causation_event_id is not null then penstock.causation_depth(r.causation_event_id) end),
         r.trace, r.actor, r.replay_of, r.playbook_ref, r.subscription
    from unnest(v_rows) r;
  insert into penstock.job_queue (
    job_id, enqueued_at, process_after, status, priority, max_attempts, executor, job_kind, pool, event_domain, lane)
  select r.job_id, now(), r.process_after,
         case when r.process_after > now() then 'scheduled'::penstock.job_status
              when r.lane is null or r.ordinal = any (v_heads) then 'ready'
              else 'blocked' end,
         r.priority, r.max_attempts, r.executor, r.kind, r.pool, coalesce(r.event_domain, ''), r.lane
    from unnest(v_rows) r;
  perform penstock.wake(v_domains);

  if cardinality(v_rows) = cardinality(p_rows) then
    return query select r.ordinal, r.job_id, true from unnest(v_rows) r;
  else
    return query
      select r.ordinal, coalesce(n.job_id, k.ref::bigint), n.ordinal is not null
        from unnest(p_rows) r
        left join unnest(v_rows) n on n.ordinal = r.ordinal
        left join penstock.once_key k on n.ordinal is null and k.scope = 'job:' || r.kind and k.key = r.idempotency_key
       order by r.ordinal;
  end if;
end
$$;

-- Name: job_queue; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_queue (
    job_id bigint NOT NULL,
    enqueued_at timestamp with time zone NOT NULL,
    lease_token bigint,
    lease_until timestamp with time zone,
    leased_by uuid,
    started_at timestamp with time zone,
    process_after timestamp with time zone,
    rule bigint,
    status penstock.job_status NOT NULL,
    priority smallint NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint,
    reaped smallint DEFAULT 0 NOT NULL,
    cancel_requested boolean DEFAULT false NOT NULL,
    executor penstock.executor_kind NOT NULL,
    job_kind text NOT NULL COLLATE pg_catalog."C",
    pool text NOT NULL COLLATE pg_catalog."C",
    event_domain text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    lane text COLLATE pg_catalog."C",
    source bigint,
    execution_id bigint,
    step_id bigint,
    visit smallint,
    item integer,
    hold text COLLATE pg_catalog."C",
    CONSTRAINT job_queue_check CHECK (((status = ANY (ARRAY['leased'::penstock.job_status, 'running'::penstock.job_status])) = (lease_until IS NOT NULL))),
    CONSTRAINT job_queue_hold_check CHECK ((hold = ANY (ARRAY['paused'::text, 'loop'::text]))),
    CONSTRAINT job_queue_status_check CHECK ((status <> ALL (ARRAY['succeeded'::penstock.job_status, 'dead_lettered'::penstock.job_status, 'cancelled'::penstock.job_status])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

-- Name: job_locked(bigint, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_locked(p_job_id bigint, p_move text) RETURNS penstock.job_queue
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_queue penstock.job_queue;
  v_actor text;
  v_status text;
begin
  select * into v_queue from penstock.job_queue q where q.job_id = p_job_id for update;
  select j.actor into v_actor from penstock.job j where j.job_id = p_job_id;
  if not found then
    raise exception using errcode = 'PS010', message = format('job %s does not exist', p_job_id),
      hint = 'penstock job list shows the newest ones.';
  end if;
  perform penstock.actor_checked(v_actor);
  if v_queue.job_id is null then
    select o.status into v_status from penstock.job_outcome o
     where o.job_id = p_job_id and o.status in ('succeeded', 'dead_lettered', 'cancelled');
    raise exception using errcode = 'PS009', message = format('job %s is %s: it cannot %s', p_job_id, v_status, p_move);
  end if;
  return v_queue;
end
$$;

-- Name: job_pairs_check(bigint[], bigint[], jsonb[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_pairs_check(p_job_ids bigint[], p_tokens bigint[], p_more jsonb[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_job_ids is null or p_tokens is null or cardinality(p_job_ids) <> cardinality(p_tokens)
     or (p_more is not null and cardinality(p_more) <> cardinality(p_job_ids)) then
    raise exception using errcode = 'PS011',
      message = format('%s job ids with %s tokens%s: the arrays must be of one length', coalesce(cardinality(p_job_ids), 0),
                       coalesce(cardinality(p_tokens), 0),
                       case when p_more is not null then format(' and %s items', cardinality(p_more)) else '' end);
  end if;
end
$$;

-- Name: job_refusal(bigint, bigint, bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_refusal(p_job_id bigint, p_token bigint, p_rules bigint[]) RETURNS text
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce(
    (select case
        when q.status not in ('leased', 'running') then 'not_leased'
        when q.lease_token is distinct from p_token then 'stale_token'
        when p_rules is not null and q.rule <> all (p_rules) then 'not_yours'
        when q.cancel_requested then 'cancelled'
        else 'ok' end
       from penstock.job_queue q where q.job_id = p_job_id),
    (select 'finished' from penstock.job j where j.job_id = p_job_id),
    'unknown_job')
$$;

-- Name: job_request_check(penstock.job_request[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_request_check(p_rows penstock.job_request[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_target record;
  v_hint text;
begin
  -- one query for all that can be asked of many at once: a lone enqueue is made of little else than queries
  for v_target in
    select t.*, exists (select from penstock.pool p where p.pool = t.pool)
                and (t.event_domain is null or exists (
                  select from penstock.event_domain d where d.event_domain = t.event_domain)) as is_known
      from (select r.kind, r.executor, r.pool, r.event_domain, r.actor, min(r.ordinal) as ordinal,
                   count(penstock.job_request_fault(r, m.bytes)) as faults
              from unnest(p_rows) r,
                   (select coalesce((select c.value from penstock.dot_config c where c.key = 'queue.safe_payload.max_bytes'),
                                    '8192')::bigint offset 0) m(bytes)
             group by r.kind, r.executor, r.pool, r.event_domain, r.actor) t
     order by t.ordinal
  loop
    if v_target.faults > 0 then
      perform penstock.job_request_refuse(p_rows);
    end if;
    begin
      if not v_target.is_known then
        perform penstock.job_target_known(v_target.executor, v_target.pool, v_target.event_domain);
      end if;
      perform penstock.job_target_check(v_target.kind, v_target.executor, v_target.actor);
    exception when others then
      get stacked diagnostics v_hint = pg_exception_hint;
      raise exception using errcode = sqlstate, hint = v_hint,
        message = case when cardinality(p_rows) > 1 then format('job %s of the request: ', v_target.ordinal) else '' end || sqlerrm;
    end;
  end loop;
end
$$;

-- Name: job_request_fault(penstock.job_request, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_request_fault(p_row penstock.job_request, p_max_bytes bigint) RETURNS text
    LANGUAGE sql STABLE
    RETURN CASE WHEN ((p_row).kind IS NULL) THEN 'kind is missing'::text WHEN (((p_row).priority < '-32768'::integer) OR ((p_row).priority > 32767)) THEN format('priority %s is outside -32768 … 32767'::text, (p_row).priority) WHEN (((p_row).max_attempts < 1) OR ((p_row).max_attempts > 1000)) THEN format('max_attempts %s is outside 1 … 1000'::text, (p_row).max_attempts) WHEN ((length((p_row).idempotency_key) < 1) OR (length((p_row).idempotency_key) > 500)) THEN 'idempotency_key must have 1 to 500 characters'::text WHEN ((length((p_row).lane) < 1) OR (length((p_row).lane) > 500)) THEN 'lane must have 1 to 500 characters'::text WHEN (GREATEST(length((p_row).source_ref), length((p_row).target_ref), length((p_row).payload_ref), length((p_row).correlation_id), length((p_row).trace)) > 2000) THEN 'a ref, correlation_id or trace is longer than 2000 characters'::text WHEN (jsonb_typeof((p_row).safe_payload) <> 'object'::text) THEN 'safe_payload must be an object'::text WHEN (pg_column_size((p_row).safe_payload) > p_max_bytes) THEN format('safe_payload is larger than %s bytes'::text, p_max_bytes) ELSE NULL::text END;

-- Name: job_request_once(penstock.job_request[], text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_request_once(p_rows penstock.job_request[], p_scope text DEFAULT NULL::text) RETURNS penstock.job_request[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_expires timestamptz := now() + penstock.config_text('queue.once_key.ttl_s.job', '2592000')::bigint * interval '1 second';
  v_new bigint[];
begin
  with first as (
    select distinct on (coalesce(p_scope, 'job:' || r.kind) collate "C", r.idempotency_key collate "C")
           coalesce(p_scope, 'job:' || r.kind) collate "C" as scope, r.idempotency_key collate "C" as key, r.job_id
      from unnest(p_rows) r where r.idempotency_key is not null
     order by coalesce(p_scope, 'job:' || r.kind) collate "C", r.idempotency_key collate "C", r.ordinal
  ), taken as (
    insert into penstock.once_key as k (scope, key, ref, expires_at)
    select f.scope, f.key, f.job_id::text, v_expires from first f order by f.scope, f.key
    on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at
      where k.expires_at <= now()
    returning k.ref
  )
  select array_agg(t.ref::bigint) into v_new from taken t;
  if cardinality(v_new) = cardinality(p_rows) then
    return p_rows;
  end if;
  -- a join: an array of thousands is searched from its start for every row
  return array(select r from unnest(p_rows) r left join unnest(v_new) n(job_id) on n.job_id = r.job_id
                where r.idempotency_key is null or n.job_id is not null order by r.ordinal);
end
$$;

-- Name: job_request_refuse(penstock.job_request[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_request_refuse(p_rows penstock.job_request[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_max bigint := penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint;
  v_bad record;
begin
  select r.ordinal, penstock.job_request_fault(r, v_max) as what, penstock.job_request_fault(r, null) is null as is_large into v_bad
    from unnest(p_rows) r where penstock.job_request_fault(r, v_max) is not null order by r.ordinal limit 1;
  raise exception using errcode = case when v_bad.is_large then 'PS007' else 'PS011' end,
    message = format('job %s of the request: %s', v_bad.ordinal, v_bad.what),
    hint = case when v_bad.is_large then 'Jobs carry a signal: keep the data elsewhere and pass its address as payload_ref.'
                else 'Nothing of the request was taken: mend this job and ask again.' end;
end
$$;

-- Name: job_results_refused(jsonb[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_results_refused(p_results jsonb[]) RETURNS bigint[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(
    select x.ordinality from unnest(p_results) with ordinality x(result, ordinality)
     where octet_length(x.result::text) > penstock.config_text('queue.result.max_bytes', '65536')::bigint)
$$;

-- Name: job_tables_locked(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_tables_locked() RETURNS boolean
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select exists (
    select from pg_locks l
     where l.locktype = 'relation' and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and l.pid <> pg_backend_pid() and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
       and l.relation in (select 'penstock.once_key'::regclass union all select 'penstock.job_queue'::regclass
                          union all select 'penstock.consumer_registry'::regclass
                          union all select p.relid from pg_partition_tree('penstock.job') p))
$$;

-- Name: job_target_check(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_target_check(p_kind text, p_executor text, p_actor text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
  if p_kind !~ '^[A-Za-z][A-Za-z0-9_.:/-]*$' or length(p_kind) > 100 then
    raise exception using errcode = 'PS011',
      message = format('kind %L: a kind is a letter, then letters, digits and _ . : / -, at most 100', p_kind);
  end if;
  perform penstock.executor_kind_check(p_executor);
  perform penstock.actor_checked(p_actor);
  if penstock.caller_is_operator() then
    return;
  end if;
  if not exists (
    select from penstock.executor_grant g
     where g.executor_kind = p_executor
       and (g.job_kind is null or g.job_kind = p_kind)
       and (g.actor = p_actor or (g.actor like 'role:%' and exists (
             select from pg_roles o where o.rolname = substr(g.actor, 6)
                and pg_has_role(penstock.caller()::name, o.oid, 'usage')))))
  then
    raise exception using errcode = 'PS005',
      message = format('%s may not enqueue %s for %s', p_actor, p_kind, p_executor),
      hint = penstock.role_advice(
        (select o.rolname::text from penstock.executor_grant g join pg_roles o on g.actor = 'role:' || o.rolname
          where g.executor_kind = p_executor and (g.job_kind is null or g.job_kind = p_kind)
          order by o.rolname <> 'penstock_producer', o.rolname limit 1),
        format('select penstock.fn_executor_grant_set(%L, %L)', p_actor, p_executor));
  end if;
end
$_$;

-- Name: job_target_known(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.job_target_known(p_executor text, p_pool text, p_event_domain text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform penstock.executor_kind_check(p_executor);
  perform penstock.pools_check(array[p_pool]);
  if p_event_domain is not null
     and not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = format('An operator makes it with: select penstock.fn_event_domain_register(%L)', p_event_domain);
  end if;
end
$$;

-- Name: jobs_bury(bigint[], text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.jobs_bury(p_job_ids bigint[], p_reason text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[];
  v_ends penstock.step_end[] := penstock.steps_failed(p_job_ids, p_reason);
begin
  insert into penstock.job_dead_letter (job_id, job_kind, reason, error, snapshot)
  select q.job_id, q.job_kind, case when o.error @> '{"permanent": true}' then 'permanent' else p_reason end, o.error,
         to_jsonb(j) || jsonb_build_object('attempt', q.attempt)
    from penstock.job_queue q
    join penstock.job j on j.job_id = q.job_id and j.enqueued_at = q.enqueued_at
    join penstock.job_outcome o on o.job_id = q.job_id and o.lease_token = q.lease_token
   where q.job_id = any (p_job_ids)
   order by q.job_id;
  with gone as (delete from penstock.job_queue q where q.job_id = any (p_job_ids) returning q.lane)
  select array_agg(g.lane) filter (where g.lane is not null) into v_lanes from gone g;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if v_ends <> '{}' then
    perform penstock.failures_handled(v_ends);
    perform penstock.steps_end(v_ends);
  end if;
end
$$;

-- Name: jobs_due(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.jobs_due() RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_now timestamptz := clock_timestamp();
begin
  return exists (select from penstock.lane_check)
      or exists (select from penstock.job_queue q where q.status in ('scheduled', 'retrying') and q.process_after <= v_now)
      or exists (select from penstock.job_queue q where q.status = 'awaiting' and q.process_after <= v_now);
end
$$;

-- Name: jobs_finished(bigint[], bigint[], bigint[], bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.jobs_finished(p_job_ids bigint[], p_tokens bigint[], p_without bigint[], p_rules bigint[], OUT done bigint[], OUT lanes text[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
  with gone as (
    -- job_id = any (…) says nothing the join does not; it is what keeps the plan from scanning the whole queue
    delete from penstock.job_queue q
     using (select * from unnest(p_job_ids, p_tokens) with ordinality u(job_id, token, ordinality) order by u.job_id) x
     where q.job_id = any (p_job_ids) and q.job_id = x.job_id and q.lease_token = x.token and q.status in ('leased', 'running')
       and q.execution_id is null and not q.cancel_requested
       and (p_rules is null or q.rule = any (p_rules)) and x.ordinality <> all (p_without)
    returning x.ordinality, q.job_id, q.lease_token, q.enqueued_at, q.started_at, q.leased_by, q.attempt, q.lane
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status)
    select d.job_id, clock_timestamp(), d.lease_token, d.enqueued_at, d.started_at, d.leased_by, d.attempt, 'succeeded'
      from gone d
  )
  select array_agg(d.ordinality), array_agg(d.lane) filter (where d.lane is not null) into done, lanes from gone d;
end
$$;

-- Name: jobs_promote(bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.jobs_promote(p_job_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[];
  v_domains text[];
begin
  with promoted as (
    update penstock.job_queue q
       set status = case when q.status = 'retrying' or q.lane is null then 'ready'::penstock.job_status else 'blocked' end
     where q.job_id = any (p_job_ids) and q.status in ('scheduled', 'retrying')
    returning q.lane, q.status, q.event_domain)
  select array_agg(distinct p.lane) filter (where p.status = 'blocked'), array_agg(distinct p.event_domain)
    into v_lanes, v_domains from promoted p;
  if v_lanes is not null then
    perform penstock.lanes_settle(v_lanes);
  end if;
  perform penstock.wake(v_domains);
end
$$;

-- Name: joins_settled(penstock.join_count[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.joins_settled(p_counts penstock.join_count[]) RETURNS penstock.step_start[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_counts penstock.join_count[] := p_counts;
  v_full penstock.join_count[];
  v_starts penstock.step_start[] := '{}';
begin
  while cardinality(v_counts) > 0 loop
    with counted as (
      insert into penstock.job_join as j (execution_id, step_id, remaining, via)
      select c.execution_id, c.step_id, s.waits_for - c.arcs, c.via
        from unnest(v_counts) c join penstock.playbook_step s on s.step_id = c.step_id
      on conflict (execution_id, step_id) do update
        set remaining = j.remaining + excluded.remaining - (select s.waits_for from penstock.playbook_step s where s.step_id = j.step_id),
            via = j.via || excluded.via
      returning j.*
    )
    select array_agg(row(c.execution_id, c.step_id, 0, c.via)::penstock.join_count) into v_full from counted c where c.remaining = 0;
    v_starts := v_starts || array(
      select row(f.execution_id, f.step_id, 1, 0, null, null, f.via, null, null, null, false)::penstock.step_start
        from unnest(v_full) f where f.via <> '{}' order by f.execution_id, f.step_id);
    v_counts := array(
      select row(f.execution_id, u.step, sum(u.count), '{}')::penstock.join_count
        from unnest(v_full) f
        join penstock.playbook_leaving l on l.step_id = f.step_id
        join penstock.playbook_arc a on a.arc_id = l.arc_id
       cross join lateral unnest(a.skips, a.skip_counts) u(step, count)
       where f.via = '{}'
       group by f.execution_id, u.step);
  end loop;
  return v_starts;
end
$$;

-- Name: key_found(jsonb, text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.key_found(p_payload jsonb, p_keys text[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select k from unnest(p_keys) k where p_payload::text ~* ('"' || regexp_replace(k, '([^[:alnum:]_ ])', '\\\1', 'g') || '":') limit 1
$$;

-- Name: keys_beyond(jsonb, text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.keys_beyond(p_object jsonb, p_keys text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select p_object is not null and (jsonb_typeof(p_object) <> 'object' or exists (
    select from jsonb_each(case when jsonb_typeof(p_object) = 'object' then p_object else '{}' end) e
     where e.key <> all (p_keys) or cardinality(penstock.names_of(e.value)) = 0))
$$;

-- Name: lane_heads(penstock.job_request[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lane_heads(p_rows penstock.job_request[]) RETURNS integer[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[] := array(select distinct r.lane from unnest(p_rows) r
                           where r.lane is not null and (r.process_after is null or r.process_after <= now()));
  v_free text[] := penstock.lanes_free(v_lanes);
begin
  return array(select min(r.ordinal) from unnest(p_rows) r
                where r.lane = any (v_free) and (r.process_after is null or r.process_after <= now())
                group by r.lane);
end
$$;

-- Name: lanes_advance(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lanes_advance(p_lanes text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[] := array(select distinct l.lane from unnest(p_lanes) l(lane));
  v_empty text[];
begin
  perform penstock.lanes_promote(v_lanes);
  v_empty := penstock.lanes_headless(v_lanes);
  if cardinality(v_empty) > 0 then
    perform penstock.lanes_settle(v_empty);
  end if;
end
$$;

-- Name: lanes_free(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lanes_free(p_lanes text[]) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_locked text[] := penstock.lanes_locked(p_lanes);
  v_headless text[] := penstock.lanes_headless(v_locked);
  v_waiting text[] := array(select n.lane from penstock.lanes_next(v_headless) n);
begin
  insert into penstock.lane_check (lane)
  select l.lane from unnest(p_lanes) l(lane) where l.lane <> all (v_locked) or l.lane = any (v_waiting);
  return array(select l.lane from unnest(v_headless) l(lane) where l.lane <> all (v_waiting));
end
$$;

-- Name: lanes_headless(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lanes_headless(p_lanes text[]) RETURNS text[]
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(
    select l.lane from unnest(p_lanes) l(lane)
     where not exists (select from penstock.job_queue q where q.lane = l.lane
                          and q.status in ('ready', 'leased', 'running', 'awaiting', 'retrying')))
$$;

-- Name: lanes_locked(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lanes_locked(p_lanes text[]) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_held integer := coalesce(nullif(current_setting('penstock.lane_locks', true), ''), '0')::integer;
  v_locked text[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return '{}';
  end if;
  v_locked := array(
    select l.lane from (select lane from unnest(p_lanes) lane limit greatest(256 - v_held, 0)) l
     where pg_try_advisory_xact_lock(hashtextextended('penstock.lane:' || l.lane, 0)));
  perform set_config('penstock.lane_locks', (v_held + cardinality(v_locked))::text, true);
  return v_locked;
end
$$;

-- Name: lanes_next(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lanes_next(p_lanes text[]) RETURNS TABLE(lane text, job_id bigint)
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select l.lane, n.job_id
    from unnest(p_lanes) l(lane)
   cross join lateral (
    select least(
      (select q.job_id from penstock.job_queue q where q.lane = l.lane and q.status = 'blocked' and q.hold is null
        order by q.job_id limit 1),
      -- offset 0: else the planner walks the lane in the order of job_id, over all that are not due
      (select min(d.job_id) from (
        select q.job_id from penstock.job_queue q
         where q.lane = l.lane and q.status = 'scheduled' and q.process_after <= (select clock_timestamp()) offset 0) d)
      )) n(job_id)
   where n.job_id is not null
$$;

-- Name: lanes_promote(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lanes_promote(p_lanes text[]) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_next bigint[];
  v_lanes text[];
  v_held bigint[];
  v_domains text[];
begin
  select array_agg(n.job_id), array_agg(n.lane) into v_next, v_lanes from penstock.lanes_next(p_lanes) n;
  if v_next is null then
    return 0;
  end if;
  v_held := array(select q.job_id from penstock.job_queue q
                   where q.job_id = any (v_next) and q.status in ('blocked', 'scheduled') and q.hold is null
                   order by q.job_id for update skip locked);
  with promoted as (
    update penstock.job_queue q set status = 'ready' where q.job_id = any (v_held) returning q.event_domain)
  select array_agg(p.event_domain) into v_domains from promoted p;
  insert into penstock.lane_check (lane)
  select n.lane from unnest(v_next, v_lanes) n(job_id, lane) where n.job_id <> all (v_held);
  perform penstock.wake(v_domains);
  return cardinality(v_held);
end
$$;

-- Name: lanes_settle(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lanes_settle(p_lanes text[]) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_locked text[] := penstock.lanes_locked(p_lanes);
begin
  insert into penstock.lane_check (lane) select l.lane from unnest(p_lanes) l(lane) where l.lane <> all (v_locked);
  return penstock.lanes_promote(penstock.lanes_headless(v_locked));
end
$$;

-- Name: lanes_sweep(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.lanes_sweep(p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[];
begin
  with noted as (
    select c.lane_check_id from penstock.lane_check c order by c.lane_check_id limit p_limit for update skip locked
  ), gone as (
    delete from penstock.lane_check c using noted n where c.lane_check_id = n.lane_check_id returning c.lane
  )
  select array_agg(distinct g.lane) into v_lanes from gone g;
  return case when v_lanes is null then 0 else penstock.lanes_settle(v_lanes) end;
end
$$;

-- Name: leases_reap(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.leases_reap(p_limit integer DEFAULT 1000) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_jobs bigint[];
  v_tokens bigint[];
  v_domains text[];
  v_ended bigint[] := array(select q.job_id from penstock.job_queue q
                             where q.status in ('leased', 'running') and q.lease_until < clock_timestamp() order by q.job_id limit p_limit);
  v_wanted bigint[] := array(select distinct q.execution_id from penstock.job_queue q
                              where q.job_id = any (v_ended) and q.execution_id is not null);
  v_free bigint[] := array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                            order by w.execution_id for update skip locked);
begin
  select array_agg(e.job_id), array_agg(e.lease_token) into v_jobs, v_tokens
    from (select q.job_id, q.lease_token from penstock.job_queue q
           where q.job_id = any (v_ended) and q.status in ('leased', 'running') and q.lease_until < clock_timestamp()
             and (q.execution_id is null or q.execution_id = any (v_free))
           order by q.job_id for update skip locked) e;
  if v_jobs is null then
    return 0;
  end if;
  perform penstock.cancelled_settle(v_jobs, v_tokens, null);
  with given_back as (
    update penstock.job_queue q
       set status = 'ready', attempt = q.attempt - 1, lease_token = null, lease_until = null, leased_by = null, rule = null
     where q.job_id = any (v_jobs) and q.status = 'leased'
    returning q.event_domain)
  select array_agg(distinct g.event_domain) into v_domains from given_back g;
  perform penstock.steps_hold(v_jobs);
  perform penstock.attempts_failed(
    v_jobs, v_tokens,
    array_fill('{"type": "LeaseExpired", "message": "the lease ended before the worker reported"}'::jsonb, array[cardinality(v_jobs)]),
    'lease_expired', null);
  perform penstock.wake(v_domains);
  return cardinality(v_jobs);
end
$$;

-- Name: live_check(text, boolean, timestamp with time zone, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.live_check(p_what text, p_is_live boolean, p_reviewed_at timestamp with time zone, p_command text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_is_live and p_reviewed_at is null then
    raise exception using errcode = 'PS026', message = format('%s cannot go live: nobody has reviewed its dry run', p_what),
      hint = 'Look at what it would do, then: ' || p_command;
  end if;
end
$$;

-- Name: local_instant(timestamp without time zone, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.local_instant(p_local timestamp without time zone, p_timezone text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  -- PostgreSQL reads a time in a gap with the offset before the jump, and a time that exists twice as the second
  v_at timestamptz := p_local at time zone p_timezone;
  v_jump_s numeric := extract(epoch from (v_at at time zone p_timezone) - p_local);
  v_day_before timestamptz := v_at - interval '24 hours';
  v_earlier timestamptz;
begin
  if v_jump_s <> 0 then
    return (select min(m) from generate_series(v_at - make_interval(secs => v_jump_s::float8), v_at, interval '1 minute') m
             where m at time zone p_timezone > p_local);
  end if;
  v_earlier := (p_local - ((v_day_before at time zone p_timezone) - (v_day_before at time zone 'UTC'))) at time zone 'UTC';
  if v_earlier < v_at and v_earlier at time zone p_timezone = p_local then
    return v_earlier;
  end if;
  return v_at;
end
$$;

-- Name: loops_advance(penstock.step_end[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.loops_advance(p_ends penstock.step_end[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[];
begin
  with loops as (
    select distinct x.execution_id, x.step_id, x.visit, s.max_in_flight
      from unnest(p_ends) x join penstock.playbook_step s on s.step_id = x.step_id
     where x.item > 0 and s.max_in_flight is not null
  ), begun as (
    update penstock.job_queue q
       set hold = case when w.status = 'paused' then 'paused' end,
           status = case when w.status = 'paused' or q.lane is not null then 'blocked'::penstock.job_status else 'ready' end
      from loops l
      join penstock.job_workflow w on w.execution_id = l.execution_id
     cross join lateral (
       select n.job_id from penstock.job_queue n
        where n.hold = 'loop' and (n.execution_id, n.step_id, n.visit) = (l.execution_id, l.step_id, l.visit)
        order by n.item limit greatest(0, l.max_in_flight - (
          select count(*) from penstock.job_queue u
           where u.item > 0 and u.hold is distinct from 'loop'
             and (u.execution_id, u.step_id, u.visit) = (l.execution_id, l.step_id, l.visit)))) n
     where q.job_id = n.job_id
    returning q.lane, q.hold
  )
  select array_agg(distinct b.lane) filter (where b.lane is not null and b.hold is null) into v_lanes from begun b;
  if v_lanes is not null then
    perform penstock.lanes_settle(v_lanes);
  end if;
  perform penstock.wake(array['']);
end
$$;

-- Name: loops_ended(penstock.step_end[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.loops_ended(p_ends penstock.step_end[]) RETURNS penstock.step_end[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_ended penstock.step_end[];
begin
  with counted as (
    update penstock.job_loop l set remaining = l.remaining - e.count, failed = l.failed + e.failed
      from (select x.execution_id, x.step_id, x.visit, count(*) as count, count(*) filter (where x.how = 'failed') as failed
              from unnest(p_ends) x group by 1, 2, 3) e
     where (l.execution_id, l.step_id, l.visit) = (e.execution_id, e.step_id, e.visit)
    returning l.*, (select t.job_id from penstock.job_step t
                     where (t.execution_id, t.step_id, t.visit, t.item) = (l.execution_id, l.step_id, l.visit, 0)) as job_id
  )
  select array_agg(row(c.execution_id, c.step_id, c.visit, 0, c.job_id, case when c.failed > 0 then 'failed' else 'done' end,
                       null, null)::penstock.step_end)
    into v_ended from counted c where c.remaining = 0;
  return coalesce(v_ended, '{}');
end
$$;

-- Name: loops_opened(penstock.step_end[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.loops_opened(p_ends penstock.step_end[]) RETURNS penstock.step_start[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into penstock.job_loop (execution_id, step_id, visit, items, remaining)
  select e.execution_id, e.step_id, e.visit, jsonb_array_length(e.items), jsonb_array_length(e.items)
    from unnest(p_ends) e where jsonb_array_length(e.items) > 0;
  return array(
    select row(e.execution_id, e.step_id, e.visit, i.ordinality, null, e.job_id, null,
               case when i.ordinality > s.max_in_flight then 'loop' end, i.value, null, false)::penstock.step_start
      from unnest(p_ends) with ordinality e
      join penstock.playbook_step s on s.step_id = e.step_id
     cross join lateral jsonb_array_elements(e.items) with ordinality i
     where e.items is not null
     order by e.ordinality, i.ordinality);
end
$$;

-- Name: names_of(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.names_of(p_list jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    RETURN CASE jsonb_typeof(p_list) WHEN 'array'::text THEN ARRAY(SELECT jsonb_array_elements_text(p_list) AS jsonb_array_elements_text) WHEN 'string'::text THEN ARRAY(SELECT TRIM(BOTH FROM n.n) AS btrim FROM unnest(string_to_array(TRIM(BOTH '() '::text FROM (names_of.p_list #>> '{}'::text[])), ','::text)) n(n) WHERE (TRIM(BOTH FROM n.n) <> ''::text)) ELSE '{}'::text[] END;

-- Name: next_fault(bigint, bigint, integer, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.next_fault(p_execution_id bigint, p_step_id bigint, p_item integer, p_next jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_step penstock.playbook_step;
  v_names text[];
  v_known text[];
begin
  select * into v_step from penstock.playbook_step s where s.step_id = p_step_id;
  if p_next is not null and (jsonb_typeof(p_next) <> 'object' or p_next - array['next', 'items', 'skipped'] <> '{}') then
    return 'expected an object with next, items or skipped';
  end if;
  if p_item > 0 then
    return case when p_next is not null and p_next <> '{}' then 'an item of a loop decides nothing' end;
  end if;
  if p_next @> '{"skipped": true}' then
    return case when p_next ? 'items' or p_next ? 'next' then 'a skipped step goes nowhere' end;
  end if;
  if v_step.is_loop and p_item = 0 then
    return case when jsonb_typeof(p_next -> 'items') is distinct from 'array' then 'a loop needs its items'
                when jsonb_array_length(p_next -> 'items') > penstock.config_text('execution.loop.max_items', '100000')::integer
                then format('a loop of more than %s items', penstock.config_text('execution.loop.max_items', '100000'))
                when octet_length((p_next -> 'items')::text) > penstock.config_text('execution.loop.max_bytes', '16777216')::bigint
                then format('items of more than %s bytes', penstock.config_text('execution.loop.max_bytes', '16777216'))
                when p_next ? 'next' then 'a loop goes on after its items' end;
  elsif p_next ? 'items' then
    return 'only a loop has items';
  end if;
  if not p_next ? 'next' or p_next is null then
    return case when exists (select from penstock.playbook_arc a where a.from_step = p_step_id and a.is_conditional)
                then 'next is missing: where it goes on depends on a condition' end;
  end if;
  if jsonb_typeof(p_next -> 'next') <> 'array' then
    return 'next is no list of steps';
  end if;
  v_names := array(select jsonb_array_elements_text(p_next -> 'next'));
  v_known := array(select t.step from penstock.playbook_arc a join penstock.playbook_step t on t.step_id = a.to_step
                    where a.from_step = p_step_id and a.kind = 'next');
  return case
    when not v_names <@ v_known then format('%s leads to none of %s', v_step.step, array_to_string(v_names, ', '))
    when v_step.is_choice and cardinality(v_names) > 1 then format('%s goes on with one step', v_step.step)
    when not v_step.is_choice and not v_known <@ v_names
    then format('%s goes on with all of %s', v_step.step, array_to_string(v_known, ', '))
    when exists (
      select from penstock.playbook_arc a join penstock.playbook_step t on t.step_id = a.to_step
       where a.from_step = p_step_id and a.kind = 'next' and t.step = any (v_names) and a.max_times <= (
         select count(*) from penstock.job_step j
          where j.execution_id = p_execution_id and j.step_id = a.to_step and j.item = 0 and a.from_step = any (j.via)))
    then format('%s has gone there as often as it may', v_step.step) end;
end
$$;

-- Name: once_sweep(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.once_sweep(p_limit integer DEFAULT 1000) RETURNS integer
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with expired as (
    select k.scope, k.key from penstock.once_key k where k.expires_at <= now() limit p_limit for update skip locked
  ), gone as (
    delete from penstock.once_key k using expired e where k.scope = e.scope and k.key = e.key returning 1
  )
  select count(*)::integer from gone
$$;

-- Name: once_take(text, text, text, text, timestamp with time zone); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.once_take(p_scope text, p_key text, p_ref text, p_ttl text, p_until timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_ref text;
begin
  insert into penstock.once_key as k (scope, key, ref, expires_at)
  values (p_scope, p_key, p_ref,
          coalesce(p_until, now() + penstock.config_text('queue.once_key.ttl_s.' || p_ttl, '2592000')::bigint * interval '1 second'))
  on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
  returning k.ref into v_ref;
  if v_ref is null then
    -- a NEW statement: only its snapshot is sure to see the row we collided with
    select k.ref into v_ref from penstock.once_key k where k.scope = p_scope and k.key = p_key;
  end if;
  return v_ref;
end
$$;

-- Name: iu_outbound_route; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_outbound_route (
    route_code text NOT NULL COLLATE pg_catalog."C",
    event_domain text NOT NULL COLLATE pg_catalog."C",
    event_type text COLLATE pg_catalog."C",
    event_stream text COLLATE pg_catalog."C",
    route_kind text NOT NULL COLLATE pg_catalog."C",
    target jsonb DEFAULT '{}'::jsonb NOT NULL,
    enabled boolean DEFAULT false NOT NULL,
    dry_run boolean DEFAULT true NOT NULL,
    notes text,
    registered_by penstock.actor_ref NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    reviewed_by penstock.actor_ref,
    reviewed_at timestamp with time zone,
    live_at timestamp with time zone,
    CONSTRAINT iu_outbound_route_check CHECK (((NOT enabled) OR dry_run OR ((reviewed_by IS NOT NULL) AND (reviewed_at IS NOT NULL)))),
    CONSTRAINT iu_outbound_route_route_code_check CHECK ((route_code ~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$'::text)),
    CONSTRAINT iu_outbound_route_route_kind_check CHECK ((route_kind ~ '^[a-z][a-z0-9_]{0,39}$'::text)),
    CONSTRAINT iu_outbound_route_target_check CHECK ((jsonb_typeof(target) = 'object'::text))
);

-- Name: outbound_route_check(penstock.iu_outbound_route, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.outbound_route_check(p_route penstock.iu_outbound_route, p_actor penstock.actor_ref) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_target jsonb := (p_route).target;
  v_fault text;
begin
  v_fault := case
    when coalesce((p_route).route_code, '') !~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$' then
      'a route code is a letter, then letters, digits and _ . -, at most 100'
    when coalesce((p_route).route_kind, '') !~ '^[a-z][a-z0-9_]{0,39}$' then 'route_kind is event, job, http or notify'
    when jsonb_typeof(v_target) <> 'object' then 'target is an object'
    when (p_route).route_kind = 'http' and coalesce(v_target ->> 'url', '') !~ '^https?://[^/[:space:]]+' then
      'the target of http has a url, such as https://example.org/hooks'
    when (p_route).route_kind = 'http' and coalesce(v_target ->> 'secret', '') = '' then
      'the target of http has a secret: the alias of a credential, whose secret signs what is sent'
    when (p_route).route_kind = 'http' and coalesce(v_target ->> 'timeout_s', '10') !~ '^([1-9]|[1-5][0-9]|60)$' then
      'timeout_s is 1 to 60'
    when (p_route).route_kind = 'notify' and coalesce(v_target ->> 'channel', '') !~ '^[a-z_][a-z0-9_]{0,62}$' then
      'the target of notify has a channel: lower-case letters, digits and _, at most 63'
    when not exists (select from penstock.event_domain d where d.event_domain = (p_route).event_domain) then
      format('event domain %L does not exist', (p_route).event_domain) end;
  if v_fault is not null then
    raise exception using errcode = 'PS011', message = format('outbound route %s: %s', (p_route).route_code, v_fault);
  end if;
  if (p_route).event_type is not null then
    perform penstock.event_type_checked((p_route).event_domain, (p_route).event_type, (p_route).event_stream);
  end if;
  if (p_route).route_kind = 'event' then
    perform penstock.event_type_checked(v_target ->> 'event_domain', v_target ->> 'event_type', v_target ->> 'event_stream');
  elsif (p_route).route_kind = 'job' then
    perform penstock.job_target_known(coalesce(v_target ->> 'executor', 'PG_worker'), coalesce(v_target ->> 'pool', 'shared'), null);
    perform penstock.job_target_check(coalesce(v_target ->> 'job_kind', ''), coalesce(v_target ->> 'executor', 'PG_worker'), p_actor);
  end if;
end
$_$;

-- Name: outbound_route_defined(text, jsonb, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.outbound_route_defined(p_route_code text, p_definition jsonb, p_actor penstock.actor_ref) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_known text[] := array['event_domain', 'event_type', 'event_stream', 'route_kind', 'target', 'notes'];
  v_route penstock.iu_outbound_route;
  v_key text;
begin
  select k into v_key from jsonb_object_keys(p_definition) k where k <> all (v_known) order by k limit 1;
  if v_key is not null then
    raise exception using errcode = 'PS011', message = format('outbound route %s: %s is nothing a route has', p_route_code, v_key),
      hint = 'It may have ' || array_to_string(v_known, ', ') || '.';
  end if;
  v_route := jsonb_populate_record(v_route, p_definition);
  v_route.route_code := p_route_code;
  v_route.target := coalesce(v_route.target, '{}');
  perform penstock.outbound_route_check(v_route, p_actor);
  insert into penstock.iu_outbound_route as r (route_code, event_domain, event_type, event_stream, route_kind, target, notes, registered_by)
  values (p_route_code, v_route.event_domain, v_route.event_type, v_route.event_stream, v_route.route_kind, v_route.target, v_route.notes,
          p_actor)
  on conflict (route_code) do update set
    event_domain = excluded.event_domain, event_type = excluded.event_type, event_stream = excluded.event_stream,
    route_kind = excluded.route_kind, target = excluded.target, notes = excluded.notes, registered_by = excluded.registered_by,
    registered_at = now(), enabled = false, dry_run = true, reviewed_by = null, reviewed_at = null, live_at = null
  where (r.event_domain, r.event_type, r.event_stream, r.route_kind, r.target)
    is distinct from (excluded.event_domain, excluded.event_type, excluded.event_stream, excluded.route_kind, excluded.target);
end
$$;

-- Name: outbox_guard(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.outbox_guard() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_tick penstock.outbox_tick;
begin
  select * into v_tick from penstock.outbox_tick t order by t.tick_id desc limit 1;
  if v_tick.system_identifier <> (select c.system_identifier from pg_control_system() c) then
    raise exception using errcode = 'PS024', message = 'the event log was written by another PostgreSQL cluster: '
      'this database was restored from a copy',
      hint = 'When the other one is gone and this one is to go on: penstock event rebase. Nothing is lost meanwhile.';
  end if;
end
$$;

-- Name: outbox_head(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.outbox_head() RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when s.is_called then s.last_value else 0 end from penstock.event_seq s
$$;

-- Name: outbox_is_due(interval); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.outbox_is_due(p_within interval) RETURNS boolean
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce((
    select t.head <> penstock.outbox_head()
           or (not coalesce(pg_snapshot_xmin(t.snapshot) > t.head_tx, false) and t.ticked_at < clock_timestamp() - p_within)
      from penstock.outbox_tick t order by t.tick_id desc limit 1), true)
$$;

-- Name: outbox_tick_insert(boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.outbox_tick_insert(p_is_fresh boolean) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_base bigint;
  v_snapshot pg_snapshot;
  v_last penstock.outbox_tick;
  v_head bigint;
  v_tx xid8;
  v_tick bigint;
begin
  select b.base into v_base from penstock.outbox_base b;
  select * into v_last from penstock.outbox_tick t order by t.tick_id desc limit 1;
  -- in this order: an event that is visible has a number up to head, and one with such a number began before v_tx
  select pg_current_snapshot() into v_snapshot;
  v_head := penstock.outbox_head();
  v_tx := pg_current_xact_id();
  insert into penstock.outbox_tick (tx_id, snapshot, head, head_tx, system_identifier)
  select penstock.tx_shifted(v_tx, v_base), penstock.snapshot_shifted(v_snapshot, v_base, v_tx), v_head,
         case when v_last.head = v_head and v_last.head_tx is not null then v_last.head_tx
              when p_is_fresh then penstock.tx_shifted(v_tx, v_base) end,
         c.system_identifier
    from pg_control_system() c
  returning tick_id into v_tick;
  return v_tick;
end
$$;

-- Name: parents_told(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.parents_told(p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_children bigint[] := array(
    select w.execution_id from penstock.job_workflow w
     where w.answer_job is not null and w.finished_at is not null
       and not exists (select from penstock.job_queue a where a.job_id = w.answer_job
                          and (a.status <> 'ready' or w.finished_at > now() - interval '1 minute'))
     order by w.execution_id limit p_limit);
  v_wanted bigint[];
  v_free bigint[];
  v_jobs bigint[];
  v_one penstock.job_workflow;
  v_told integer := 0;
begin
  if v_children = '{}' then
    return 0;
  end if;
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  v_wanted := v_children || array(select w.parent_execution from penstock.job_workflow w where w.execution_id = any (v_children));
  v_free := array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                   order by w.execution_id for update skip locked);
  v_jobs := array(select q.job_id from penstock.job_queue q
                   where q.job_id in (select unnest(array[w.parent_job, w.answer_job]) from penstock.job_workflow w
                                       where w.execution_id = any (v_children))
                   order by q.job_id for update skip locked);
  for v_one in
    select w.* from penstock.job_workflow w
     where w.execution_id = any (v_children) and w.execution_id = any (v_free) and w.answer_job is not null
       -- a parent of one step has no workflow
       and not exists (select from penstock.job_workflow p where p.execution_id = w.parent_execution and p.execution_id <> all (v_free))
       and not exists (select from penstock.job_queue q where q.job_id in (w.parent_job, w.answer_job) and q.job_id <> all (v_jobs))
       and not exists (select from penstock.job_queue a where a.job_id = w.answer_job and a.status <> 'ready')
     order by w.execution_id
  loop
    begin
      if penstock.fn_job_child_ended(v_one.execution_id) then
        v_told := v_told + 1;
        perform penstock.happened(v_one.parent_job, 'child_told_by_tick', 'system:playbook',
          jsonb_build_object('execution', v_one.execution_id, 'instead_of', v_one.answer_job));
        update penstock.job_dead_letter d set resolved_at = now(), resolved_by = 'system:playbook', resolution = 'told_by_tick'
         where d.job_id = v_one.answer_job and d.resolved_at is null;
        with gone as (delete from penstock.job_queue a where a.job_id = v_one.answer_job returning a.*)
        insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, attempt, status, reason)
        select g.job_id, clock_timestamp(), 0, g.enqueued_at, g.attempt, 'cancelled', 'told_by_tick' from gone g;
      end if;
    exception when others then
      raise warning 'job % could not be told that execution % has ended: %', v_one.parent_job, v_one.execution_id, sqlerrm;
    end;
  end loop;
  return v_told;
end
$$;

-- Name: partition_ensure(text, timestamp with time zone); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.partition_ensure(p_parent text, p_at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_name text := format('%s_y%sm%s', p_parent, to_char(p_at at time zone 'UTC', 'YYYY'),
                        to_char(p_at at time zone 'UTC', 'MM'));
  v_from timestamp;
  v_lock_timeout text := current_setting('lock_timeout');
begin
  if to_regclass('penstock.' || v_name) is not null then
    return false;
  end if;
  perform pg_advisory_xact_lock(hashtext('penstock.partition'));
  begin
    perform set_config('lock_timeout', '2s', true);
    execute format('create table penstock.%I (like penstock.%I including all)', v_name, p_parent);
    -- months of UTC, written so that they are read alike whatever TimeZone and DateStyle the caller has
    v_from := date_trunc('month', p_at at time zone 'UTC');
    execute format('alter table penstock.%I attach partition penstock.%I for values from (%L) to (%L)', p_parent, v_name,
                   to_char(v_from, 'YYYY-MM-DD 00:00:00+00'), to_char(v_from + interval '1 month', 'YYYY-MM-DD 00:00:00+00'));
  exception when duplicate_table then
    return false;  -- made while we waited for the lock; to_regclass would not have heard of it yet
  end;
  perform set_config('lock_timeout', v_lock_timeout, true);
  return true;
end
$$;

-- Name: partitions_ahead(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.partitions_ahead(p_ahead integer DEFAULT 2) RETURNS integer
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select count(*) filter (where penstock.partition_ensure(t, m.month at time zone 'UTC'))::integer
    from unnest(array['job', 'job_outcome', 'execution_event', 'event_outbox', 'event_read', 'ingest_message']) t,
         generate_series(0, p_ahead) n,
         lateral (select date_trunc('month', now() at time zone 'UTC') + n * interval '1 month' as month) m
$$;

-- Name: payload_check(jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.payload_check(p_payload jsonb, p_what text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_key text;
begin
  if p_payload is null then
    return;
  end if;
  v_key := substring(p_payload::text from penstock.forbidden_key_pattern());
  if v_key is not null then
    raise exception using errcode = 'PS006', message = format('%s holds the key %L, which no job or event carries', p_what, v_key),
      hint = 'Jobs and events carry a signal: keep the data elsewhere and pass its address as a ref. '
             'The list is queue.forbidden_keys in dot_config.';
  end if;
end
$$;

-- Name: iu_document; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_document (
    document text NOT NULL COLLATE pg_catalog."C",
    staging_id bigint,
    run text COLLATE pg_catalog."C",
    revision integer DEFAULT 0 NOT NULL,
    sha256 bytea,
    size_bytes integer DEFAULT 0 NOT NULL,
    pieces integer DEFAULT 0 NOT NULL,
    cut_at timestamp with time zone
);

-- Name: piece_document_locked(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.piece_document_locked(p_address text) RETURNS penstock.iu_document
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_document penstock.iu_document;
begin
  select t.* into v_document from penstock.iu_document t
   where t.document = (select p.document from penstock.iu_piece p where p.address = p_address) for update;
  return v_document;
end
$$;

-- Name: playbook_graph_write(text, integer, jsonb, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.playbook_graph_write(p_path text, p_version integer, p_content jsonb, p_graph jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_steps jsonb := p_graph -> 'steps';
begin
  if p_graph is null then
    if jsonb_array_length(p_content -> 'workflow') <> 1 then
      raise exception using errcode = 'PS011', message = format('%s has several steps, and no graph of them', p_path),
        hint = 'Register it with: penstock catalog register FILE';
    end if;
    v_steps := jsonb_build_array(jsonb_build_object(
      'step', p_content #> '{workflow,0,step}', 'job_kind', 'tool:' || (p_content #>> '{workflow,0,tool,kind}'),
      'executor', p_content #> '{workflow,0,executor}', 'pool', p_content #> '{workflow,0,pool}', 'lane', p_content #> '{workflow,0,lane}',
      'max_attempts', p_content #> '{workflow,0,retry,max_attempts}', 'is_start', true, 'is_single', true));
  end if;
  insert into penstock.playbook_step (
    path, version, step, ordinal, job_kind, executor, pool, lane, max_attempts, backoff, on_error, is_start, is_single, is_choice,
    is_loop, max_in_flight, waits_for, cycle)
  select p_path, p_version, s.step, s.ordinality, s.job_kind, coalesce(s.executor, 'PG_worker'), s.pool, s.lane, s.max_attempts, s.backoff,
         coalesce(s.on_error, 'fail'), coalesce(s.is_start, false), coalesce(s.is_single, false), coalesce(s.is_choice, false),
         coalesce(s.is_loop, false), s.max_in_flight, coalesce(s.waits_for, 0), s.cycle
    from rows from (jsonb_to_recordset(v_steps) as (
      step text, job_kind text, executor text, pool text, lane text, max_attempts smallint, backoff jsonb, on_error text,
      is_start boolean, is_single boolean, is_choice boolean, is_loop boolean, max_in_flight integer, waits_for smallint, cycle smallint))
      with ordinality s;
  insert into penstock.playbook_arc (
    from_step, to_step, ordinal, kind, is_inside, is_join, is_conditional, max_times, skips, skip_counts)
  select f.step_id, t.step_id, a.ordinal, a.kind, a.is_inside, a.is_join, a.is_conditional, a.max_times, k.skips, k.counts
    from jsonb_to_recordset(coalesce(p_graph -> 'arcs', '[]')) a(
      "from" text, "to" text, ordinal smallint, kind text, is_inside boolean, is_join boolean, is_conditional boolean, max_times integer,
      skips jsonb)
    join penstock.playbook_step f on f.path = p_path and f.version = p_version and f.step = a."from"
    join penstock.playbook_step t on t.path = p_path and t.version = p_version and t.step = a."to"
   cross join lateral (
    select coalesce(array_agg(j.step_id order by j.step_id), '{}'), coalesce(array_agg(e.value::smallint order by j.step_id), '{}')
      from jsonb_each_text(coalesce(a.skips, '{}')) e
      join penstock.playbook_step j on j.path = p_path and j.version = p_version and j.step = e.key) k(skips, counts);
  insert into penstock.playbook_leaving (step_id, arc_id)
  select s.step_id, a.arc_id
    from penstock.playbook_step s
    join penstock.playbook_step f on f.path = s.path and f.version = s.version and (f.step_id = s.step_id or f.cycle = s.cycle)
    join penstock.playbook_arc a on a.from_step = f.step_id and not a.is_inside
   where s.path = p_path and s.version = p_version;
  update penstock.playbook_step s set plain_next = t.step_id
    from jsonb_to_recordset(v_steps) g(step text, plain_next text)
    join penstock.playbook_step t on t.path = p_path and t.version = p_version and t.step = g.plain_next
   where s.path = p_path and s.version = p_version and s.step = g.step;
end
$$;

-- Name: playbook_targets(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.playbook_targets(p_paths text[]) RETURNS penstock.playbook_target[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(
    select row(c.path, c.path || '@' || c.version, s.job_kind, s.executor, s.pool, s.lane, s.max_attempts,
               case when not s.is_single or s.backoff is not null then s.step_id end, s.step, s.is_single)::penstock.playbook_target
      from unnest(p_paths) p(path)
     cross join lateral (select * from penstock.catalog v where v.path = p.path and v.kind = 'Playbook'
                          order by v.version desc limit 1) c
      join penstock.playbook_step s on s.path = c.path and s.version = c.version and s.is_start)
$$;

-- Name: playbooks_known(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.playbooks_known(p_content jsonb) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(select t.path from unnest(penstock.playbook_targets(array(select penstock.catalog_playbooks('Subscription', p_content)))) t)
$$;

-- Name: pools_check(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.pools_check(p_pools text[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_unknown text := (select n from unnest(p_pools) n where not exists (select from penstock.pool p where p.pool = n) limit 1);
begin
  if v_unknown is not null then
    raise exception using errcode = 'PS003', message = format('pool %L does not exist', v_unknown),
      hint = format('An operator makes it with: penstock pool set %s', v_unknown);
  end if;
end
$$;

-- Name: pools_known(jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.pools_known(p_content jsonb) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(select p.pool from penstock.catalog_pools('Subscription', p_content) c(pool) join penstock.pool p using (pool))
$$;

-- Name: promote_due(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.promote_due(p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  -- a variable: the index cannot be searched for a volatile function's value
  v_now timestamptz := clock_timestamp();
  v_due bigint[] := array(
    select q.job_id from penstock.job_queue q
     where q.status in ('scheduled', 'retrying') and q.process_after <= v_now
     order by q.process_after limit p_limit for update skip locked);
begin
  if cardinality(v_due) > 0 then
    perform penstock.jobs_promote(v_due);
  end if;
  return cardinality(v_due);
end
$$;

-- Name: queue_analyze(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.queue_analyze() RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '20ms'
    AS $$
begin
  if pg_relation_size('penstock.job_queue') / 8192 <= 64 + 2 * (
       select greatest(c.relpages, 0) from pg_class c where c.oid = 'penstock.job_queue'::regclass) then
    return false;
  end if;
  analyze penstock.job_queue;
  return true;
exception when lock_not_available then
  return false;
end
$$;

-- Name: results_forget(timestamp with time zone, bigint, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.results_forget(p_before timestamp with time zone, p_after bigint, p_limit integer, OUT gone integer, OUT after bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_old bigint[];
  v_last bigint;
  v_kept bigint[];
begin
  select coalesce(array_agg(r.job_id) filter (where r.created_at < p_before), '{}'),
         case when count(*) = p_limit and bool_or(r.created_at < p_before) then max(r.job_id) else 0 end
    into v_old, after
    from (select r.job_id, r.created_at from penstock.job_result r where r.job_id > p_after order by r.job_id limit p_limit) r;
  gone := 0;
  if v_old = '{}' then
    return;
  end if;
  v_last := (select max(o) from unnest(v_old) o);
  v_kept := array(
    select s.job_id from penstock.job_workflow w
     -- offset 0: the steps of each are looked up by its id
     cross join lateral (select t.job_id, t.decider from penstock.job_step t where t.execution_id = w.execution_id offset 0) t
     cross join lateral (values (t.job_id), (t.decider)) s(job_id)
     where w.execution_id <= v_last and s.job_id = any (v_old));
  delete from penstock.job_result r where r.job_id = any (array(select o from unnest(v_old) o except select k from unnest(v_kept) k));
  get diagnostics gone = row_count;
end
$$;

-- Name: retry_delay_ms(integer, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.retry_delay_ms(p_attempt integer, p_step_id bigint DEFAULT NULL::bigint) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  with policy as (
    select coalesce(b.own ->> 'strategy', penstock.config_text('queue.retry.backoff.strategy', 'exponential')) as strategy,
           coalesce(b.own ->> 'base_ms', penstock.config_text('queue.retry.backoff.base_ms', '1000'))::numeric as base,
           coalesce(b.own ->> 'cap_ms', penstock.config_text('queue.retry.backoff.cap_ms', '600000'))::numeric as cap,
           penstock.config_text('queue.retry.backoff.jitter', '0.2')::numeric as jitter
      from (select (select s.backoff from penstock.playbook_step s where s.step_id = p_step_id) as own) b)
  select least(p.cap, p.base * case p.strategy when 'fixed' then 1 when 'linear' then p_attempt
                                               else power(2::numeric, least(p_attempt, 40) - 1) end
                     * (1 + p.jitter * (random()::numeric * 2 - 1)))::bigint
    from policy p
$$;

-- Name: review_check(text, boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.review_check(p_what text, p_has_run_dry boolean) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if not p_has_run_dry then
    raise exception using errcode = 'PS026', message = format('%s has not run dry since it was registered: there is nothing to review',
      p_what), hint = 'Enable it as a dry run, and let an event come.';
  end if;
end
$$;

-- Name: role_advice(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.role_advice(p_role text, p_statement text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when p_role is null then 'An operator runs: '
              else format('A superuser, or whoever made the role, runs: grant %I to %I. Or an operator runs: ', p_role, penstock.caller())
         end || p_statement
$$;

-- Name: iu_route_attempt; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_route_attempt (
    attempt_id bigint NOT NULL,
    worker_name text NOT NULL COLLATE pg_catalog."C",
    route_code text COLLATE pg_catalog."C",
    route_kind text COLLATE pg_catalog."C",
    event_ref uuid NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    attempt_no integer DEFAULT 1 NOT NULL,
    job_id bigint,
    error jsonb,
    attempted_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT iu_route_attempt_status_check CHECK ((status = ANY (ARRAY['dry_run'::text, 'disabled'::text, 'skipped'::text, 'failed'::text, 'queued'::text, 'sent'::text])))
);

-- Name: route_attempt_held(penstock.iu_route_attempt, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.route_attempt_held(p_attempt penstock.iu_route_attempt, p_lease_token bigint) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when p_lease_token is null then penstock.caller_is_operator() else exists (
    select from penstock.job_queue q
     where q.job_id = (p_attempt).job_id and q.lease_token = p_lease_token and q.status in ('leased', 'running')
       and (penstock.caller_rules() is null or q.rule = any (penstock.caller_rules()))) end
$$;

-- Name: iu_route_dead_letter; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_route_dead_letter (
    dead_letter_id bigint NOT NULL,
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    worker_name text NOT NULL COLLATE pg_catalog."C",
    route_code text NOT NULL COLLATE pg_catalog."C",
    event_ref uuid NOT NULL,
    reason text NOT NULL,
    error jsonb,
    event_snapshot jsonb NOT NULL,
    dead_at timestamp with time zone DEFAULT now() NOT NULL,
    replay_attempt_id bigint,
    resolved_at timestamp with time zone,
    resolved_by penstock.actor_ref,
    resolution text
);

-- Name: route_dead_letter_locked(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.route_dead_letter_locked(p_dead_letter_id bigint) RETURNS penstock.iu_route_dead_letter
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_letter penstock.iu_route_dead_letter;
begin
  select * into v_letter from penstock.iu_route_dead_letter d where d.dead_letter_id = p_dead_letter_id for update;
  perform penstock.dead_letter_check('route-' || p_dead_letter_id, v_letter.dead_letter_id is not null, v_letter.resolution,
    v_letter.resolved_by, v_letter.resolved_at);
  if exists (select from penstock.iu_route_attempt a where a.attempt_id = v_letter.replay_attempt_id and a.status = 'queued') then
    raise exception using errcode = 'PS014', message = format('dead letter route-%s is being delivered again, by attempt %s',
      p_dead_letter_id, v_letter.replay_attempt_id);
  end if;
  return v_letter;
end
$$;

-- Name: route_delivered(penstock.iu_outbound_route, penstock.event_outbox, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.route_delivered(p_route penstock.iu_outbound_route, p_event penstock.event_outbox, p_key text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_target jsonb := (p_route).target;
  v_job penstock.job_request;
begin
  if (p_route).route_kind = 'event' then
    perform penstock.fn_iu_emit_event(v_target ->> 'event_domain', v_target ->> 'event_type', v_target ->> 'event_stream',
      (p_event).subject_table, (p_event).subject_ref, (p_event).payload, null, (p_event).correlation_id, (p_event).event_id, p_key,
      (p_event).trace);
  elsif (p_route).route_kind = 'job' then
    v_job := row(1, nextval('penstock.job_id_seq'), v_target ->> 'job_kind', p_key, coalesce(v_target ->> 'executor', 'PG_worker'),
      'event/' || (p_event).event_id, (p_event).subject_ref, v_target ->> 'payload_ref',
      jsonb_build_object('route', (p_route).route_code, 'event_type', (p_event).event_type),
      coalesce((v_target ->> 'priority')::integer, 0), null, (p_event).correlation_id, (p_event).event_id, 'system:route_worker',
      coalesce(v_target ->> 'pool', 'shared'), null, (p_event).event_domain, (p_event).trace, null, null, null, null,
      least((p_event).causation_depth + 1, 32767));
    perform penstock.job_insert(r, p_checked => true) from (select penstock.job_request_once(array[v_job])) o(r) where cardinality(r) > 0;
  elsif (p_route).route_kind = 'notify' then
    perform pg_notify(v_target ->> 'channel', (p_event).event_id::text);
  else
    raise exception using errcode = 'PS018', message = format('nobody handles routes of kind %s', (p_route).route_kind);
  end if;
end
$$;

-- Name: route_replay(bigint, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.route_replay(p_dead_letter_id bigint, p_actor text) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_attempt bigint := penstock.fn_iu_route_dead_letter_replay(p_dead_letter_id, p_actor);
begin
  return (select coalesce('job-' || a.job_id, 'attempt-' || a.attempt_id) from penstock.iu_route_attempt a where a.attempt_id = v_attempt);
end
$$;

-- Name: route_sent(penstock.iu_route_attempt); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.route_sent(p_attempt penstock.iu_route_attempt) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  update penstock.iu_route_attempt a set status = 'sent', ended_at = now(), error = null where a.attempt_id = (p_attempt).attempt_id;
  update penstock.iu_route_dead_letter d
     set resolved_at = now(), resolved_by = 'system:route_worker', resolution = 'sent by attempt ' || (p_attempt).attempt_no
   where d.idempotency_key = (p_attempt).idempotency_key and d.resolved_at is null;
end
$$;

-- Name: routes_bury(bigint[], penstock.event_outbox[], text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routes_bury(p_attempts bigint[], p_events penstock.event_outbox[], p_reason text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  insert into penstock.iu_route_dead_letter as d (idempotency_key, worker_name, route_code, event_ref, reason, error, event_snapshot)
  select a.idempotency_key, a.worker_name, coalesce(a.route_code, 'none'), a.event_ref, p_reason, a.error, to_jsonb(e)
    from penstock.iu_route_attempt a join unnest(p_events) e on e.event_id = a.event_ref
   where a.attempt_id = any (p_attempts) and a.status = 'failed'
  on conflict (idempotency_key) do update
    set reason = excluded.reason, error = excluded.error, dead_at = now(), replay_attempt_id = null, resolved_at = null, resolved_by = null,
        resolution = null
$$;

-- Name: iu_route_worker_cursor; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_route_worker_cursor (
    worker_name text NOT NULL COLLATE pg_catalog."C",
    event_domain text COLLATE pg_catalog."C",
    runs bigint DEFAULT 0 NOT NULL,
    events bigint DEFAULT 0 NOT NULL,
    last_run_at timestamp with time zone,
    last_run_summary jsonb,
    set_by penstock.actor_ref NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT iu_route_worker_cursor_worker_name_check CHECK ((worker_name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,80}$'::text))
);

-- Name: routes_failed(penstock.iu_route_worker_cursor, penstock.event_outbox, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routes_failed(p_worker penstock.iu_route_worker_cursor, p_event penstock.event_outbox, p_message text, p_sqlstate text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_made bigint[];
begin
  with made as (
    insert into penstock.iu_route_attempt (worker_name, route_code, route_kind, event_ref, status, idempotency_key, error, ended_at)
    select (p_worker).worker_name, (f.route).route_code, (f.route).route_kind, p_event.event_id, 'failed', f.idempotency_key,
           jsonb_build_object('message', p_message, 'sqlstate', p_sqlstate), now()
      from penstock.routes_for(p_worker, array[p_event]) f
    on conflict (idempotency_key, attempt_no) do nothing
    returning attempt_id)
  select array_agg(m.attempt_id) into v_made from made m;
  perform penstock.routes_bury(v_made, array[p_event], 'failed');
  return jsonb_build_object('failed', coalesce(cardinality(v_made), 0));
end
$$;

-- Name: routes_for(penstock.iu_route_worker_cursor, penstock.event_outbox[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routes_for(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]) RETURNS TABLE(event penstock.event_outbox, route penstock.iu_outbound_route, idempotency_key text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select e, r, format('iu_wrk:%s:%s:%s', (p_worker).worker_name, coalesce(r.route_code, 'none'), e.event_id)
    from unnest(p_events) e
    left join penstock.iu_outbound_route r
      -- where a type is named it decides: the stream it belongs to may have been another one when this was recorded
      on r.event_domain = e.event_domain
     and case when r.event_type is not null then r.event_type = e.event_type
              else coalesce(r.event_stream, e.event_stream) = e.event_stream end
   where case when (p_worker).event_domain is not null then e.event_domain = (p_worker).event_domain
              else exists (select from penstock.iu_outbound_route o where o.event_domain = e.event_domain) end
$$;

-- Name: routes_queue(bigint[], penstock.event_outbox[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routes_queue(p_attempts bigint[], p_events penstock.event_outbox[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_jobs penstock.job_request[];
begin
  v_jobs := array(
    select row(row_number() over (order by a.attempt_id), a.job_id, 'route_deliver', null, 'PG_worker', 'event/' || e.event_id,
               e.subject_ref, null, jsonb_build_object('attempt', a.attempt_id, 'route', a.route_code), 0, null, e.correlation_id,
               e.event_id,
               'system:route_worker', 'shared', null, e.event_domain, e.trace, null, null, null, null,
               least(e.causation_depth + 1, 32767))::penstock.job_request
      from penstock.iu_route_attempt a join unnest(p_events) e on e.event_id = a.event_ref
     where a.attempt_id = any (p_attempts) and a.status = 'queued' order by a.attempt_id);
  if cardinality(v_jobs) > 0 then
    perform penstock.job_insert(v_jobs, p_checked => true);
  end if;
end
$$;

-- Name: routes_run(penstock.iu_route_worker_cursor, penstock.event_outbox[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routes_run(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_made bigint[];
begin
  with planned as materialized (
    select f.event, f.route, f.idempotency_key,
           case when (f.route).route_code is null then 'skipped' when not (f.route).enabled then 'disabled'
                when (f.route).dry_run then 'dry_run' when (f.route).route_kind in ('event', 'job', 'http', 'notify') then 'queued'
                else 'failed' end as status
      from penstock.routes_for(p_worker, p_events) f order by (f.event).tx_id, (f.event).seq),
  made as (
    insert into penstock.iu_route_attempt (worker_name, route_code, route_kind, event_ref, status, idempotency_key, job_id, error, ended_at)
    select (p_worker).worker_name, (p.route).route_code, (p.route).route_kind, (p.event).event_id, p.status, p.idempotency_key,
           case when p.status = 'queued' then nextval('penstock.job_id_seq') end,
           case when p.status = 'failed' then
             jsonb_build_object('message', format('nobody handles routes of kind %s', (p.route).route_kind)) end,
           case when p.status <> 'queued' then now() end
      from planned p
    on conflict (idempotency_key, attempt_no) do nothing
    returning attempt_id)
  select array_agg(m.attempt_id) into v_made from made m;
  perform penstock.routes_queue(v_made, p_events);
  perform penstock.routes_bury(v_made, p_events, 'unhandled_kind');
  return (select coalesce(jsonb_object_agg(s.status, s.n), '{}') from (
    select a.status, count(*) as n from penstock.iu_route_attempt a where a.attempt_id = any (v_made) group by a.status) s);
end
$$;

-- Name: routes_run_apart(penstock.iu_route_worker_cursor, penstock.event_outbox[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routes_run_apart(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_event penstock.event_outbox;
  v_why text;
  v_sum jsonb := '{}';
begin
  begin
    return penstock.routes_run(p_worker, p_events);
  exception when others then
    -- of the moment, or of one of them, which shows below
    if penstock.error_is_passing(sqlstate) or sqlstate = '55P03' then
      raise;
    end if;
    v_why := sqlerrm;
  end;
  foreach v_event in array p_events loop
    begin
      v_sum := penstock.counts_added(v_sum, penstock.routes_run(p_worker, array[v_event]));
    exception when others then
      if penstock.error_is_passing(sqlstate) then
        raise;
      end if;
      v_sum := penstock.counts_added(v_sum, penstock.routes_failed(p_worker, v_event, sqlerrm, sqlstate));
    end;
  end loop;
  return v_sum || jsonb_build_object('apart', v_why);
end
$$;

-- Name: routes_settle(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routes_settle(p_limit integer DEFAULT 1000) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_attempts bigint[];
begin
  with ended as materialized (
    select a.attempt_id, l.dead_letter_id, l.error
      from (select d.job_id, d.dead_letter_id, d.error from penstock.job_dead_letter d
             where d.resolved_at is null and d.job_kind = 'route_deliver'
            union all
            -- cancelled: of those that wait longest
            select q.job_id, null, null
              from (select o.job_id from penstock.iu_route_attempt o where o.status = 'queued' order by o.job_id limit p_limit) q
             where not exists (select from penstock.job_queue u where u.job_id = q.job_id)
               and not exists (select from penstock.job_dead_letter d where d.job_id = q.job_id and d.resolved_at is null)) l
      join penstock.iu_route_attempt a on a.job_id = l.job_id
     where a.status = 'queued' order by a.attempt_id limit p_limit for update of a skip locked),
  resolved as (
    update penstock.job_dead_letter d
       set resolved_at = now(), resolved_by = 'system:route_worker', resolution = 'kept as a dead letter of its route'
      from ended e where d.dead_letter_id = e.dead_letter_id),
  failed as (
    update penstock.iu_route_attempt a
       set status = 'failed', ended_at = now(), error = coalesce(e.error, '{"message": "its delivery job ended without sending it"}')
      from ended e where a.attempt_id = e.attempt_id
    returning a.attempt_id)
  select array_agg(f.attempt_id) into v_attempts from failed f;
  perform penstock.routes_bury(v_attempts, array(
    select coalesce(e, jsonb_populate_record(null::penstock.event_outbox,
                                             coalesce(d.event_snapshot, jsonb_build_object('event_id', a.event_ref))))
      from penstock.iu_route_attempt a
      left join penstock.event_outbox e on e.event_id = a.event_ref
      left join penstock.iu_route_dead_letter d on d.idempotency_key = a.idempotency_key
     where a.attempt_id = any (v_attempts)), 'not_delivered');
  return coalesce(cardinality(v_attempts), 0);
end
$$;

-- Name: routes_tick(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routes_tick() RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_report jsonb := jsonb_build_object('settled', penstock.routes_settle());
  v_name text;
  v_fault text;
begin
  for v_name in select w.worker_name from penstock.iu_route_worker_cursor w order by w.worker_name loop
    begin
      v_report := v_report || jsonb_build_object(v_name, penstock.fn_iu_route_worker_run(v_name));
    exception when others then
      v_fault := coalesce(v_fault, format('route worker %s: %s', v_name, sqlerrm));
    end;
  end loop;
  return case when v_fault is null then v_report else v_report || jsonb_build_object('error', v_fault) end;
end
$$;

-- Name: routine_args(pg_proc); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.routine_args(p_routine pg_proc) RETURNS TABLE(name text, type regtype, is_in boolean, is_needed boolean, is_variadic boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select a.name, a.type::regtype, i.is_in,
         -- the last ones that are taken may have defaults
         i.is_in and a.mode is distinct from 'v'
           and count(*) filter (where i.is_in) over (order by a.place) <= (p_routine).pronargs - (p_routine).pronargdefaults,
         coalesce(a.mode = 'v', false)
    from unnest((p_routine).proargnames, coalesce((p_routine).proallargtypes, (p_routine).proargtypes::oid[]), (p_routine).proargmodes)
           with ordinality a(name, type, mode, place)
   cross join lateral (select coalesce(a.mode, 'i') in ('i', 'b', 'v')) i(is_in)
   where coalesce(a.mode, 'i') <> 't'
$$;

-- Name: subscription_runtime; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.subscription_runtime (
    path text NOT NULL COLLATE pg_catalog."C",
    token bigint DEFAULT 0 NOT NULL,
    version integer,
    incarnation uuid,
    lease_until timestamp with time zone,
    released_at timestamp with time zone,
    started_at timestamp with time zone,
    backlog bigint,
    backlog_at timestamp with time zone,
    backlog_since timestamp with time zone,
    is_stalled boolean DEFAULT false NOT NULL,
    unattended_at timestamp with time zone,
    begun boolean DEFAULT false NOT NULL,
    last_commit_at timestamp with time zone,
    received bigint DEFAULT 0 NOT NULL,
    executions bigint DEFAULT 0 NOT NULL,
    deduplicated bigint DEFAULT 0 NOT NULL,
    dead_lettered bigint DEFAULT 0 NOT NULL,
    replays bigint DEFAULT 0 NOT NULL,
    rate_since timestamp with time zone,
    rate_received bigint,
    rate_next timestamp with time zone,
    rate_next_received bigint,
    batches bigint DEFAULT 0 NOT NULL,
    recent jsonb DEFAULT '[]'::jsonb NOT NULL,
    ledger uuid DEFAULT gen_random_uuid() NOT NULL
)
WITH (fillfactor='50');

-- Name: runtime_checked(text, penstock.subscription_runtime, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.runtime_checked(p_subscription text, p_held penstock.subscription_runtime, p_token bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_held.path is null then
    raise exception using errcode = 'PS017', message = format('subscription %s is not registered', coalesce(p_subscription, 'null')),
      hint = 'Register it: penstock subscription register FILE';
  end if;
  if p_held.token is distinct from p_token then
    raise exception using errcode = 'PS019',
      message = format('runtime %s of subscription %s has been replaced by runtime %s: nothing was changed',
                       coalesce(p_token::text, 'null'), p_held.path, coalesce(p_held.token::text, '?'));
  end if;
end
$$;

-- Name: runtime_counted(text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.runtime_counted(p_subscription text, p_report jsonb) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  update penstock.subscription_runtime r
     set received = r.received + (p_report ->> 'received')::bigint, executions = r.executions + (p_report ->> 'executions')::bigint,
         deduplicated = r.deduplicated + (p_report ->> 'deduplicated')::bigint,
         dead_lettered = r.dead_lettered + (p_report ->> 'dead_lettered')::bigint, replays = r.replays + (p_report ->> 'replays')::bigint,
         batches = r.batches + 1, last_commit_at = clock_timestamp(), is_stalled = false,
         recent = jsonb_path_query_array(jsonb_build_array(p_report || jsonb_build_object('batch', r.batches + 1,
                    'commit_ms', (extract(epoch from clock_timestamp() - now()) * 1000)::bigint)) || r.recent, '$[0 to 4]'),
         backlog_since = case when r.backlog_since is not null then clock_timestamp() end
   where r.path = p_subscription and (p_report ->> 'received')::bigint > 0
$_$;

-- Name: runtime_renewed(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.runtime_renewed(p_subscription text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  update penstock.subscription_runtime r set lease_until = penstock.runtime_until()
   where r.path = p_subscription and r.lease_until is not null
$$;

-- Name: runtime_until(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.runtime_until() RETURNS timestamp with time zone
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select clock_timestamp() + penstock.config_text('subscription.lease_ms', '15000')::bigint * interval '1 millisecond'
$$;

-- Name: schedule; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.schedule (
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    cron text,
    every interval,
    timezone text DEFAULT 'UTC'::text NOT NULL,
    job jsonb NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    next_run_at timestamp with time zone NOT NULL,
    last_run_at timestamp with time zone,
    last_job_id bigint,
    last_error text,
    set_by penstock.actor_ref NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schedule_check CHECK (((cron IS NULL) <> (every IS NULL))),
    CONSTRAINT schedule_every_check CHECK ((every >= '00:00:01'::interval)),
    CONSTRAINT schedule_schedule_id_check CHECK ((schedule_id ~ '^[A-Za-z0-9][A-Za-z0-9_./-]{0,99}$'::text))
);

-- Name: schedule_failed(penstock.schedule, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.schedule_failed(p_schedule penstock.schedule, p_sqlstate text, p_message text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_next timestamptz := p_schedule.next_run_at;
begin
  if left(p_sqlstate, 2) not in ('40', '53', '55', '57', '58') then
    begin
      v_next := penstock.schedule_next(p_schedule.cron, p_schedule.every, p_schedule.timezone, p_schedule.next_run_at);
    exception when others then
      v_next := now() + interval '1 minute';
    end;
  end if;
  update penstock.schedule s
     set next_run_at = v_next, last_error = left(format('%s: %s', p_sqlstate, p_message), 2000)
   where s.schedule_id = p_schedule.schedule_id;
end
$$;

-- Name: schedule_next(text, interval, text, timestamp with time zone); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.schedule_next(p_cron text, p_every interval, p_timezone text, p_planned timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  -- seconds, because PostgreSQL adds days and months by the session's time zone
  v_every_s numeric := extract(epoch from p_every);
begin
  if p_cron is not null then
    return penstock.cron_next(p_cron, now(), p_timezone);
  end if;
  return p_planned + make_interval(
    secs => (v_every_s * (floor(extract(epoch from now() - p_planned) / v_every_s) + 1))::float8);
end
$$;

-- Name: schedule_request(jsonb, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.schedule_request(p_job jsonb, p_actor text, p_key text) RETURNS penstock.job_request
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform penstock.job_array_check(jsonb_build_array(p_job));
  if p_job ? 'idempotency_key' then
    raise exception using errcode = 'PS011', message = 'the job of a schedule has no idempotency_key',
      hint = 'Each run gets its own: schedule:<schedule_id>:<planned run>.';
  end if;
  return (
    select row(1, case when p_key is not null then nextval('penstock.job_id_seq') end, j.kind, p_key,
               coalesce(j.executor, 'PG_worker'), j.source_ref, j.target_ref, j.payload_ref, j.safe_payload,
               coalesce(j.priority, 0), j.process_after, j.correlation_id, j.causation_event_id,
               coalesce(j.actor, p_actor), coalesce(j.pool, 'shared'), j.lane, j.event_domain, j.trace,
               j.max_attempts, null, null, null, null)::penstock.job_request
      from jsonb_to_record(p_job) as j (
        kind text, executor text, source_ref text, target_ref text, payload_ref text, safe_payload jsonb,
        priority integer, process_after timestamptz, correlation_id text, causation_event_id uuid, actor text, pool text,
        lane text, event_domain text, trace text, max_attempts integer));
exception
  when invalid_text_representation or invalid_datetime_format or datetime_field_overflow
    or numeric_value_out_of_range or invalid_parameter_value then
    raise exception using errcode = 'PS011', message = 'the job of the schedule has a field that cannot be read: ' || sqlerrm;
end
$$;

-- Name: schedule_run(penstock.schedule); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.schedule_run(p_schedule penstock.schedule) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_next timestamptz := penstock.schedule_next(p_schedule.cron, p_schedule.every, p_schedule.timezone, p_schedule.next_run_at);
  v_planned text := to_char(p_schedule.next_run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
  v_request penstock.job_request := penstock.schedule_request(
    p_schedule.job, p_schedule.set_by, format('schedule:%s:%s', p_schedule.schedule_id, v_planned));
  v_job bigint;
begin
  -- the setter's rights were checked when it was set; whoever ticks now needs none
  perform penstock.job_target_known(v_request.executor, v_request.pool, v_request.event_domain);
  if v_request.kind like 'drain:%' then
    v_job := (select min(d.job_id) from penstock.drain_jobs(v_request.kind) d);
  end if;
  v_job := coalesce(v_job,
    penstock.once_take('schedule:' || p_schedule.schedule_id, v_planned, v_request.job_id::text, 'job')::bigint);
  if v_job = v_request.job_id then
    perform penstock.job_insert(array[v_request], p_checked => true);
  end if;
  update penstock.schedule s
     set next_run_at = v_next, last_run_at = now(), last_job_id = v_job, last_error = null
   where s.schedule_id = p_schedule.schedule_id;
  return v_job = v_request.job_id;
end
$$;

-- Name: schedules_run(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.schedules_run(p_limit integer DEFAULT 100) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_schedule penstock.schedule;
  v_enqueued integer := 0;
  v_failed integer := 0;
begin
  for v_schedule in
    select s.* from penstock.schedule s where s.enabled and s.next_run_at <= now()
     order by s.next_run_at limit coalesce(p_limit, 100) for update skip locked
  loop
    begin
      v_enqueued := v_enqueued + penstock.schedule_run(v_schedule)::integer;
    exception when others then
      perform penstock.schedule_failed(v_schedule, sqlstate, sqlerrm);
      v_failed := v_failed + 1;
    end;
  end loop;
  return jsonb_build_object('enqueued', v_enqueued, 'failed', v_failed);
end
$$;

-- Name: silence_watch(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.silence_watch() RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_limit interval := penstock.config_text('queue.heartbeat.stale_threshold_seconds', '60')::bigint * interval '1 second';
  v_silent record;
  v_count integer := 0;
begin
  with unheard as materialized (
    select distinct q.leased_by, s.executor_id, s.executor_kind
      from penstock.job_queue q
      join penstock.job_subscription s on s.subscription_id = q.rule
      join penstock.executor e on e.executor_id = s.executor_id and e.deregistered_at is null
     where q.status in ('leased', 'running')
       and not exists (select from penstock.queue_heartbeat h where h.executor_id = s.executor_id and h.incarnation = q.leased_by)
     limit 1000)
  insert into penstock.queue_heartbeat (incarnation, executor_id, executor_kind, heard)
  select u.leased_by, u.executor_id, u.executor_kind, false from unheard u
   where pg_try_advisory_xact_lock(hashtextextended('penstock.beat:' || u.executor_id || ':' || u.leased_by, 0))
  on conflict do nothing;
  -- what was known by its leases alone, and holds none any more, has nothing to be silent about
  delete from penstock.queue_heartbeat h
   where (h.executor_id, h.incarnation) in (
     select u.executor_id, u.incarnation from penstock.queue_heartbeat u
      where not u.heard and u.silent_since is null and not exists (
        select from penstock.job_subscription s join penstock.job_queue q on q.rule = s.subscription_id
         where s.executor_id = u.executor_id and q.leased_by = u.incarnation and q.status in ('leased', 'running'))
        for update of u skip locked);
  for v_silent in
    update penstock.queue_heartbeat h set silent_since = now()
     where (h.executor_id, h.incarnation) in (
       select s.executor_id, s.incarnation from penstock.queue_heartbeat s
        where s.silent_since is null and s.beat_at < now() - v_limit for update skip locked)
    returning h.incarnation, h.executor_id, h.beat_at
  loop
    perform penstock.event_insert(gen_random_uuid(), 'system', 'queue_worker_silent', 'alert', 'executor', v_silent.executor_id,
      jsonb_build_object('incarnation', v_silent.incarnation, 'last_beat_at', v_silent.beat_at), 'system:queue_tick', null, null, null);
    v_count := v_count + 1;
  end loop;
  delete from penstock.queue_heartbeat h
   where (h.executor_id, h.incarnation) in (
     select s.executor_id, s.incarnation from penstock.queue_heartbeat s
      where s.silent_since < now() - interval '1 day' for update skip locked);
  return v_count;
end
$$;

-- Name: single_moved(bigint, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.single_moved(p_execution_id bigint, p_action text, p_actor text) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_first penstock.job;
begin
  select * into v_first from penstock.job j where j.job_id = p_execution_id and j.playbook_ref is not null;
  if not found then
    raise exception using errcode = 'PS010', message = format('execution %s does not exist', p_execution_id),
      hint = 'penstock execution list shows the newest ones.';
  end if;
  perform penstock.actor_checked(v_first.actor);
  if v_first.step is not null and v_first.execution_id <> v_first.job_id then
    raise exception using errcode = 'PS010', message = format('%s is no execution: it is a job of execution %s, of the step %s',
      p_execution_id, v_first.execution_id, v_first.step), hint = format('Name that one: penstock execution %s %s', p_action,
      v_first.execution_id);
  end if;
  if v_first.step is not null then
    raise exception using errcode = 'PS009', message = format('execution %s has ended, and its steps are forgotten: it cannot %s',
      p_execution_id, case p_action when 'cancel' then 'be cancelled' when 'retry' then 'be retried' else p_action end),
      hint = 'execution.keep_days says for how long they are kept.';
  end if;
  if p_action in ('pause', 'resume') then
    raise exception using errcode = 'PS009', message = format('execution %s is one job: it cannot %s', p_execution_id, p_action);
  end if;
  if p_action = 'cancel' then
    return replace(penstock.fn_job_cancel(p_execution_id, p_actor), 'cancel_requested', 'cancelling');
  end if;
  return 'replayed as ' || penstock.fn_job_retry(p_execution_id, p_actor);
end
$$;

-- Name: snapshot_shifted(pg_snapshot, bigint, xid8); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.snapshot_shifted(p_snapshot pg_snapshot, p_base bigint, p_own xid8) RETURNS pg_snapshot
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when p_base = 0 and p_own >= pg_snapshot_xmax(p_snapshot) then p_snapshot
              else format('%s:%s:%s', least(pg_snapshot_xmin(p_snapshot)::text::bigint, p_own::text::bigint) + p_base,
                          pg_snapshot_xmax(p_snapshot)::text::bigint + p_base, x.open)::pg_snapshot end
    from (select string_agg((i.tx + p_base)::text, ',' order by i.tx) as open
            from (select t::text::bigint from pg_snapshot_xip(p_snapshot) t
                  union select p_own::text::bigint where p_own < pg_snapshot_xmax(p_snapshot)) i(tx)) x
$$;

-- Name: sql_call_done(text, jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_call_done(p_route_code text, p_args jsonb, p_actor text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_route penstock.iu_sql_event_route;
  v_now penstock.sql_route_context;
  v_payload jsonb;
  v_key text;
  v_subject text;
begin
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code and r.sql_event = 'call' and r.enabled;
  if v_route.route_code is null then
    return;
  end if;
  v_payload := (select jsonb_object_agg(k, p_args -> k) from unnest(penstock.names_of(v_route.payload_contract -> 'keep_refs')) k);
  v_key := (select p_route_code || ':' || md5(jsonb_agg(p_args -> k order by o)::text)
              from unnest(penstock.names_of(v_route.idempotency_policy -> 'key')) with ordinality u(k, o));
  v_subject := (select string_agg(p_args ->> k, ',' order by o)
                  from unnest(penstock.names_of(v_route.payload_contract -> 'subject')) with ordinality u(k, o));
  if v_route.dry_run then
    perform penstock.sql_route_noted(p_route_code, 'dry_run', 1, jsonb_build_array(jsonb_build_object('payload', v_payload)), null);
    return;
  end if;
  v_now := penstock.sql_route_context_now(false);
  perform penstock.sql_route_checked(v_payload, p_route_code);
  perform penstock.fn_iu_emit_event(v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream,
    v_route.source_schema || '.' || v_route.source_table,
    v_subject, v_payload, p_actor, v_now.correlation_id, v_now.causation_event_id, v_key, v_now.trace);
exception when others then
  if v_route.fail_closed then
    raise;
  end if;
  perform penstock.sql_route_noted(p_route_code, 'refused', 0, null, sqlerrm);
end
$$;

-- Name: sql_call_statement(text, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_call_statement(p_route_code text, p_args jsonb, OUT statement text, OUT gives boolean) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_route penstock.iu_sql_event_route;
  v_routine pg_proc;
  v_unknown text;
  v_args text;
begin
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code and r.sql_event = 'call';
  if v_route.route_code is null then
    raise exception using errcode = 'PS011', message = format('there is no SQL route %L for calls', p_route_code);
  end if;
  select * into v_routine from pg_proc p where p.oid = penstock.sql_route_routine(v_route);
  if jsonb_typeof(p_args) <> 'object' then
    raise exception using errcode = 'PS011', message = format('the arguments of %s are a JSON object, with their names',
      v_routine.oid::regprocedure);
  end if;
  select k into v_unknown from jsonb_object_keys(p_args) k
   where not exists (select from penstock.routine_args(v_routine) a where a.is_in and a.name = k) order by k limit 1;
  if v_unknown is not null then
    raise exception using errcode = 'PS011', message = format('%s has no argument %s', v_routine.oid::regprocedure, v_unknown);
  end if;
  select string_agg(coalesce(nullif(a.name, ''), 'one without a name'), ', ') into v_unknown from penstock.routine_args(v_routine) a
   where a.is_needed and not coalesce(p_args ? a.name, false);
  if v_unknown is not null then
    raise exception using errcode = 'PS011', message = format('%s needs an argument that is not given: %s', v_routine.oid::regprocedure,
      v_unknown);
  end if;
  select string_agg(case
           when not a.is_in then format('%I => null', a.name)
           when a.is_variadic and not coalesce(p_args ? a.name, false) then format('variadic %I => ''{}''::%s', a.name, a.type)
           when a.type in ('json'::regtype, 'jsonb'::regtype) then format('%I => ($1 -> %2$L)::%3$s', a.name, a.name, a.type)
           when t.typcategory = 'A' then format('%4$s%1$I => penstock.array_text($1 -> %2$L, %5$L)::%3$s', a.name, a.name, a.type,
             case when a.is_variadic then 'variadic ' end, t.typelem in ('json'::regtype, 'jsonb'::regtype))
           when t.typtype = 'c' then format('%I => jsonb_populate_record(null::%3$s, $1 -> %2$L)', a.name, a.name, a.type)
           else format('%I => ($1 ->> %2$L)::%3$s', a.name, a.name, a.type) end, ', ')
    into v_args
    from penstock.routine_args(v_routine) a join pg_type t on t.oid = a.type
   -- a procedure is called with its OUT arguments, too, and any number of arguments may be none
   where case when a.is_in then a.is_variadic or p_args ? a.name else v_routine.prokind = 'p' end;
  gives := v_routine.prokind = 'f' or exists (select from unnest(v_routine.proargmodes) m where m in ('o', 'b'));
  statement := format(case when v_routine.prokind = 'p' then 'call %s(%s)'
                     when v_routine.proretset then 'select jsonb_agg(to_jsonb(r)) from %s(%s) r'
                     else 'select to_jsonb(%s(%s))' end,
                format('%I.%I', v_route.source_schema, v_routine.proname), v_args);
end
$_$;

-- Name: iu_sql_event_route; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_sql_event_route (
    route_code text NOT NULL COLLATE pg_catalog."C",
    route_id bigint NOT NULL,
    source_object_kind text NOT NULL COLLATE pg_catalog."C",
    source_schema text,
    source_table text,
    sql_event text NOT NULL COLLATE pg_catalog."C",
    target_event_domain text NOT NULL COLLATE pg_catalog."C",
    target_event_type text NOT NULL COLLATE pg_catalog."C",
    target_event_stream text NOT NULL COLLATE pg_catalog."C",
    enabled boolean DEFAULT false NOT NULL,
    dry_run boolean DEFAULT true NOT NULL,
    fail_closed boolean DEFAULT true NOT NULL,
    idempotency_policy jsonb,
    payload_contract jsonb,
    source_filter jsonb,
    notes text,
    registered_by penstock.actor_ref NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    reviewed_by penstock.actor_ref,
    reviewed_at timestamp with time zone,
    live_at timestamp with time zone,
    CONSTRAINT iu_sql_event_route_check CHECK (((NOT enabled) OR dry_run OR ((reviewed_by IS NOT NULL) AND (reviewed_at IS NOT NULL)))),
    CONSTRAINT iu_sql_event_route_check1 CHECK (
CASE sql_event
    WHEN 'call'::text THEN (source_object_kind = 'routine'::text)
    WHEN 'ddl'::text THEN (source_object_kind = 'database'::text)
    ELSE (source_object_kind = 'table'::text)
END),
    CONSTRAINT iu_sql_event_route_check2 CHECK (((source_object_kind = 'database'::text) OR ((source_schema IS NOT NULL) AND (source_table IS NOT NULL)))),
    CONSTRAINT iu_sql_event_route_route_code_check CHECK ((route_code ~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$'::text)),
    CONSTRAINT iu_sql_event_route_source_object_kind_check CHECK ((source_object_kind = ANY (ARRAY['table'::text, 'routine'::text, 'database'::text]))),
    CONSTRAINT iu_sql_event_route_sql_event_check CHECK ((sql_event = ANY (ARRAY['insert'::text, 'update'::text, 'delete'::text, 'truncate'::text, 'call'::text, 'ddl'::text])))
);

-- Name: sql_ddl_emit(penstock.iu_sql_event_route, jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_ddl_emit(p_route penstock.iu_sql_event_route, p_objects jsonb, p_tag text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_now penstock.sql_route_context;
  v_objects jsonb := (select jsonb_agg(o) from jsonb_array_elements(p_objects) o
                       where (p_route).source_schema is null or o ->> 'schema' = (p_route).source_schema);
begin
  if v_objects is null then
    return;
  elsif (p_route).dry_run then
    perform penstock.sql_route_noted((p_route).route_code, 'dry_run', jsonb_array_length(v_objects), v_objects, p_tag);
    return;
  end if;
  v_now := penstock.sql_route_context_now(false);
  perform penstock.partition_ensure('event_outbox', now());
  insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor,
    correlation_id, causation_event_id, causation_depth, trace)
  select (p_route).target_event_domain, (p_route).target_event_type, (p_route).target_event_stream, o ->> 'type',
         left(o ->> 'identity', 2000), jsonb_build_object('command', p_tag), v_now.actor, v_now.correlation_id,
         v_now.causation_event_id, v_now.causation_depth, v_now.trace from jsonb_array_elements(v_objects) o;
  perform penstock.wake(array['_outbox']);
end
$$;

-- Name: sql_ddl_fired(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_ddl_fired() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_route penstock.iu_sql_event_route;
  v_objects jsonb := penstock.sql_ddl_objects(tg_event);
begin
  if v_objects is null then
    return;
  end if;
  for v_route in select * from penstock.iu_sql_event_route r where r.sql_event = 'ddl' and r.enabled order by r.route_code loop
    begin
      perform penstock.sql_ddl_emit(v_route, v_objects, tg_tag);
    exception when others then
      if v_route.fail_closed and not v_route.dry_run then
        raise;
      end if;
      perform penstock.sql_route_noted(v_route.route_code, 'refused', 0, null, sqlerrm);
    end;
  end loop;
end
$$;

-- Name: sql_ddl_is_ours(text, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_ddl_is_ours(p_schema text, p_type text, p_identity text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce(p_schema = 'penstock', false)
      or p_type = 'schema' and p_identity = 'penstock'
      or p_type = 'trigger' and p_identity ~ '^penstock_route_[0-9]+ on '
      or p_type = 'event trigger' and p_identity in ('penstock_ddl', 'penstock_drop')
$$;

-- Name: sql_ddl_objects(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_ddl_objects(p_event text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_event = 'sql_drop' then
    return (select jsonb_agg(jsonb_build_object('schema', case d.object_type when 'schema' then d.object_identity else d.schema_name end,
                                        'type', d.object_type, 'identity', d.object_identity))
              from pg_event_trigger_dropped_objects() d
             -- what went with something else, too, where it is a thing of its own
             where (d.original or d.object_type in ('table', 'view', 'materialized view', 'foreign table', 'function', 'procedure'))
               and not d.is_temporary and not penstock.sql_ddl_is_ours(d.schema_name, d.object_type, d.object_identity));
  end if;
  return (select jsonb_agg(jsonb_build_object('schema', case c.object_type when 'schema' then c.object_identity else c.schema_name end,
                                      'type', c.object_type, 'identity', c.object_identity))
            from pg_event_trigger_ddl_commands() c
           where c.schema_name is distinct from 'pg_temp'
             and not penstock.sql_ddl_is_ours(c.schema_name, c.object_type, c.object_identity));
end
$$;

-- Name: sql_route_body(penstock.iu_sql_event_route, regclass); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_body(p_route penstock.iu_sql_event_route, p_table regclass) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_columns text[];
  v_types oid[];
  v_live text;
begin
  select coalesce(array_agg(a.attname::text order by a.attnum), '{}'), coalesce(array_agg(a.atttypid order by a.attnum), '{}')
    into v_columns, v_types
    from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
     and a.attname = any (penstock.sql_route_columns(p_route) || penstock.table_key(p_table));
  if not (p_route).enabled then
    return 'begin return null; end';
  elsif (p_route).dry_run then
    return format('declare v_events bigint; v_sample jsonb;
begin
  begin
    execute penstock.sql_route_dry(%1$L, tg_relid) into v_events, v_sample;
    perform penstock.sql_route_noted(%1$L, ''dry_run'', v_events, v_sample, null);
  exception when others then
    perform penstock.sql_route_noted(%1$L, ''refused'', 0, null, sqlerrm);
  end;
  return null;
end', (p_route).route_code);
  end if;
  v_live := format('
    v_actor := ''role:'' || penstock.caller();
    if %1$L or v_actor !~ ''^[!-~]{6,200}$'' or current_setting(''penstock.causation_event_id'', true) <> ''''
       or current_setting(''penstock.correlation_id'', true) <> '''' or current_setting(''penstock.trace'', true) <> '''' then
      v_now := penstock.sql_route_context_now(%1$L);
    else
      v_now.actor := v_actor;
      v_now.causation_depth := 0;
    end if;
    if now() >= %2$L::timestamptz then
      perform penstock.partition_ensure(''event_outbox'', now());
    end if;
    if (select count(*) filter (where a.atttypid = (%7$L::oid[])[array_position(%3$L::name[], a.attname)]) from pg_attribute a
         where a.attrelid = tg_relid and not a.attisdropped and a.attname = any (%3$L::name[])) = %4$s%8$s
       and tg_table_name = %9$L and tg_table_schema = %10$L then
      %5$s;
    else
      execute (select penstock.sql_route_statement(r, tg_relid, ''$1'') from penstock.iu_sql_event_route r
                where r.route_code = %6$L) using v_now;
    end if;
    get diagnostics v_count = row_count;
    if v_count > 0 and current_setting(''penstock.woken'', true) is distinct from pg_current_xact_id()::text then
      perform set_config(''penstock.woken'', pg_current_xact_id()::text, true);
      perform penstock.wake(array[''_outbox'']);
    end if;', cardinality(penstock.names_of((p_route).idempotency_policy -> 'key')) > 0,
    -- until then there is a partition, and nobody has to look
    to_char(date_trunc('month', now() at time zone 'UTC') + interval '1 month', 'YYYY-MM-DD 00:00:00+00'), v_columns,
    cardinality(v_columns), penstock.sql_route_statement(p_route, p_table, 'v_now'), (p_route).route_code, v_types,
    case when (p_route).source_filter is not null
      then ' and exists (select from pg_index i where i.indrelid = tg_relid and i.indisprimary)' end,
    (p_route).source_table, (p_route).source_schema);
  return 'declare v_now penstock.sql_route_context; v_actor text; v_count bigint;
begin' || case when (p_route).fail_closed then v_live else format('
  begin%s
  exception when others then
    perform penstock.sql_route_noted(%L, ''refused'', 0, null, sqlerrm);
  end;', v_live, (p_route).route_code) end || '
  return null;
end';
end
$_$;

-- Name: sql_route_check(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_check(p_route penstock.iu_sql_event_route) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_code text := (p_route).route_code;
  v_refs text[] := penstock.names_of((p_route).payload_contract -> 'keep_refs');
  v_fault text;
begin
  v_fault := case
    when coalesce(v_code, '') !~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$' then
      'a route code is a letter, then letters, digits and _ . : -, at most 100'
    when coalesce((p_route).sql_event, '') not in ('insert', 'update', 'delete', 'truncate', 'call', 'ddl') then
      'sql_event is insert, update, delete, truncate, call or ddl'
    when (p_route).source_object_kind <> case (p_route).sql_event when 'call' then 'routine' when 'ddl' then 'database' else 'table' end
      then format('%s happens to a %s', (p_route).sql_event,
                  case (p_route).sql_event when 'call' then 'routine' when 'ddl' then 'database' else 'table' end)
    when penstock.keys_beyond((p_route).payload_contract, array['keep_refs', 'forbid_keys', 'subject']) then
      'payload_contract is an object with keep_refs, forbid_keys and subject, each a list of names'
    when penstock.keys_beyond((p_route).idempotency_policy, array['key']) then 'idempotency_policy is an object with key, a list of columns'
    when penstock.keys_beyond((p_route).source_filter, array['changed']) then 'source_filter is an object with changed, a list of columns'
    when (p_route).source_filter is not null and (p_route).sql_event <> 'update' then 'only an update can be filtered by what has changed'
    when (p_route).sql_event in ('truncate', 'ddl') and num_nonnulls((p_route).payload_contract, (p_route).idempotency_policy) > 0 then
      format('a %s has no rows: payload_contract and idempotency_policy say nothing about it', (p_route).sql_event)
    when cardinality(v_refs) > 40 then 'keep_refs has at most 40 columns: events carry a signal' end;
  if v_fault is not null then
    raise exception using errcode = 'PS011', message = format('SQL route %s: %s', v_code, v_fault);
  end if;
  perform penstock.sql_route_names_check(p_route);
  if (p_route).source_object_kind = 'table' then
    perform penstock.sql_route_table_check(p_route);
  elsif (p_route).source_object_kind = 'routine' then
    perform penstock.sql_route_routine(p_route);
  end if;
end
$_$;

-- Name: sql_route_checked(jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_checked(p_payload jsonb, p_route_code text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_route penstock.iu_sql_event_route;
  v_key text;
begin
  if pg_column_size(p_payload) > penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint then
    raise exception using errcode = 'PS007', message = format('the payload of route %s is larger than %s bytes', p_route_code,
      penstock.config_text('queue.safe_payload.max_bytes', '8192')), hint = 'Keep fewer columns in its payload_contract: keep_refs.';
  end if;
  perform penstock.payload_check(p_payload, format('the payload of route %s', p_route_code));
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code;
  v_key := penstock.key_found(p_payload, penstock.names_of(v_route.payload_contract -> 'forbid_keys'));
  if v_key is not null then
    raise exception using errcode = 'PS006', message = format('the payload of route %s holds the key %L, which it forbids',
      p_route_code, v_key);
  end if;
  perform penstock.event_contract_check(v_route.target_event_domain, v_route.target_event_type, p_payload,
    format('the payload of route %s', p_route_code));
  return p_payload;
end
$$;

-- Name: sql_route_columns(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_columns(p_route penstock.iu_sql_event_route) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(select distinct n from unnest(
    penstock.names_of((p_route).payload_contract -> 'keep_refs') || penstock.names_of((p_route).payload_contract -> 'subject')
    || penstock.names_of((p_route).idempotency_policy -> 'key') || penstock.names_of((p_route).source_filter -> 'changed')) n order by n)
$$;

-- Name: sql_route_context_now(boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_context_now(p_is_keyed boolean) RETURNS penstock.sql_route_context
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_now penstock.sql_route_context;
  v_actor text := 'role:' || penstock.caller();
  v_cause text := current_setting('penstock.causation_event_id', true);
begin
  v_now.actor := case when penstock.actor_is_wellformed(v_actor) then v_actor else 'system:sql_route' end;
  v_now.correlation_id := left(nullif(current_setting('penstock.correlation_id', true), ''), 2000);
  v_now.trace := left(nullif(current_setting('penstock.trace', true), ''), 2000);
  v_now.causation_depth := 0;
  if v_cause ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    v_now.causation_event_id := v_cause::uuid;
    v_now.causation_depth := penstock.causation_depth(v_now.causation_event_id);
  end if;
  if p_is_keyed then
    v_now.expires_at := now() + penstock.config_text('queue.once_key.ttl_s.event', '2592000')::bigint * interval '1 second';
  end if;
  return v_now;
end
$_$;

-- Name: sql_route_ddl(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_ddl(p_route penstock.iu_sql_event_route) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if not exists (select from penstock.iu_sql_event_route r where r.sql_event = 'ddl' and r.enabled) then
    drop event trigger if exists penstock_ddl;
    drop event trigger if exists penstock_drop;
    return;
  elsif not (p_route).enabled or penstock.sql_route_state(p_route) <> 'not_applied' then
    return;
  end if;
  if not (select r.rolsuper from pg_roles r where r.rolname = current_user) then
    raise exception using errcode = '42501', message = format('SQL route %s: ddl routes need an event trigger, and %s is no superuser',
      (p_route).route_code, current_user), hint = 'Let a superuser run penstock migrate, or do without ddl routes.';
  end if;
  drop event trigger if exists penstock_ddl;
  drop event trigger if exists penstock_drop;
  create event trigger penstock_ddl on ddl_command_end execute function penstock.sql_ddl_fired();
  create event trigger penstock_drop on sql_drop execute function penstock.sql_ddl_fired();
end
$$;

-- Name: sql_route_defined(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_defined(p_route penstock.iu_sql_event_route) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  insert into penstock.iu_sql_event_route as r (route_code, source_object_kind, source_schema, source_table, sql_event,
    target_event_domain, target_event_type, target_event_stream, fail_closed, idempotency_policy, payload_contract, source_filter, notes,
    registered_by)
  values ((p_route).route_code, (p_route).source_object_kind, (p_route).source_schema, (p_route).source_table, (p_route).sql_event,
          (p_route).target_event_domain, (p_route).target_event_type, (p_route).target_event_stream, (p_route).fail_closed,
          (p_route).idempotency_policy, (p_route).payload_contract, (p_route).source_filter, (p_route).notes, (p_route).registered_by)
  on conflict (route_code) do update set
    source_object_kind = excluded.source_object_kind, source_schema = excluded.source_schema, source_table = excluded.source_table,
    sql_event = excluded.sql_event, target_event_domain = excluded.target_event_domain, target_event_type = excluded.target_event_type,
    target_event_stream = excluded.target_event_stream, fail_closed = excluded.fail_closed,
    idempotency_policy = excluded.idempotency_policy, payload_contract = excluded.payload_contract,
    source_filter = excluded.source_filter, notes = excluded.notes, registered_by = excluded.registered_by, registered_at = now(),
    enabled = false, dry_run = true, reviewed_by = null, reviewed_at = null, live_at = null
  where (r.source_object_kind, r.source_schema, r.source_table, r.sql_event, r.target_event_domain, r.target_event_type,
         r.target_event_stream, r.fail_closed, r.idempotency_policy, r.payload_contract, r.source_filter)
    is distinct from (excluded.source_object_kind, excluded.source_schema, excluded.source_table, excluded.sql_event,
         excluded.target_event_domain, excluded.target_event_type, excluded.target_event_stream, excluded.fail_closed,
         excluded.idempotency_policy, excluded.payload_contract, excluded.source_filter)
$$;

-- Name: sql_route_dry(text, regclass); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_dry(p_route_code text, p_table regclass) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select format('select count(*), (select jsonb_agg(to_jsonb(s)) from (select * from (%1$s) f limit 10) s) from (%1$s) r',
                penstock.sql_route_rows(r, p_table))
    from penstock.iu_sql_event_route r where r.route_code = p_route_code
$_$;

-- Name: sql_route_filter(penstock.iu_sql_event_route, regclass); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_filter(p_route penstock.iu_sql_event_route, p_table regclass) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case when f.changed is null or k.same is null then ''
              else format(' left join was o on (%s) where (%s) is distinct from (%s)', k.same, f.before, f.changed) end
    from (select string_agg(format('(%s)%s', penstock.sql_route_value(p_table, a.attname, 'n'), x.cast), ', ' order by a.attnum) as changed,
                 string_agg(format('(%s)%s', penstock.sql_route_value(p_table, a.attname, 'o'), x.cast), ', ' order by a.attnum) as before
            from pg_attribute a join pg_type t on t.oid = a.atttypid
           cross join lateral (select case when t.typname in ('json', 'xml') or t.typcategory = 'G' then '::text' else '' end) x("cast")
           where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
             and a.attname = any (penstock.names_of((p_route).source_filter -> 'changed'))) f,
         (select string_agg(format('%s = %s', penstock.sql_route_value(p_table, c, 'o'), penstock.sql_route_value(p_table, c, 'n')),
                            ' and ') as same from unnest(penstock.table_key(p_table)) c) k
$$;

-- Name: sql_route_joined(regclass, text[], text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_joined(p_table regclass, p_columns text[], p_there text[]) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case count(*) when 0 then 'null::text' when 1 then format('left((%s)::text, 2000)', min(v))
              else format('left(concat_ws('','', %s), 2000)', string_agg(v, ', ' order by o)) end
    from unnest(p_columns) with ordinality u(c, o) cross join lateral (select penstock.sql_route_value(p_table, c, 'n')) x(v)
   where c = any (p_there)
$$;

-- Name: sql_route_names_check(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_names_check(p_route penstock.iu_sql_event_route) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_code text := (p_route).route_code;
  v_refs text[] := penstock.names_of((p_route).payload_contract -> 'keep_refs');
begin
  perform penstock.payload_check(
    (select jsonb_object_agg(r, 0) from unnest(v_refs || penstock.names_of((p_route).payload_contract -> 'subject')) r),
    format('keep_refs or subject of route %s', v_code));
  if v_refs && penstock.names_of((p_route).payload_contract -> 'forbid_keys') then
    raise exception using errcode = 'PS006', message = format('SQL route %s keeps a column that its own forbid_keys forbid', v_code);
  end if;
  perform penstock.event_contract_check((p_route).target_event_domain, (p_route).target_event_type,
    case when (p_route).sql_event = 'ddl' then '{"command": 0}' else (select jsonb_object_agg(r, 0) from unnest(v_refs) r) end,
    format('SQL route %s', v_code));
end
$$;

-- Name: sql_route_noted(text, text, bigint, jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_noted(p_route_code text, p_outcome text, p_events bigint, p_sample jsonb, p_detail text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  insert into penstock.sql_event_route_note (route_code, outcome, events, sample, detail)
  values (p_route_code, p_outcome, p_events, p_sample, left(p_detail, 2000))
$$;

-- Name: sql_route_payload(penstock.iu_sql_event_route, regclass); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_payload(p_route penstock.iu_sql_event_route, p_table regclass) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_refs text[] := penstock.names_of((p_route).payload_contract -> 'keep_refs');
  v_pairs text;
  v_is_plain boolean;
begin
  if cardinality(v_refs) = 0 then
    return 'null::jsonb';
  end if;
  select string_agg(format('%L, %s', r, coalesce(penstock.sql_route_value(p_table, r, 'n'), 'null::text')), ', ' order by o)
    into v_pairs from unnest(v_refs) with ordinality u(r, o);
  -- what is not PostgreSQL's own is a text here
  select bool_and(t.typcategory in ('B', 'D', 'G', 'I', 'N', 'S', 'T', 'V') or t.oid = 'uuid'::regtype
                  or t.typtype <> 'd' and t.typnamespace <> 'pg_catalog'::regnamespace) into v_is_plain
    from pg_attribute a join pg_type t on t.oid = a.atttypid where a.attrelid = p_table and a.attname = any (v_refs);
  return format('penstock.sql_route_sized(jsonb_build_object(%s), %L, %s)', v_pairs, (p_route).route_code,
                case when coalesce(v_is_plain, true) then least(512, penstock.config_text('queue.safe_payload.max_bytes', '8192')::integer)
                     else -1 end);
end
$$;

-- Name: sql_route_read(text, jsonb, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_read(p_route_code text, p_definition jsonb, p_actor penstock.actor_ref) RETURNS penstock.iu_sql_event_route
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_known text[] := array['source_object_kind', 'source_schema', 'source_table', 'sql_event', 'target_event_domain', 'target_event_type',
                          'target_event_stream', 'payload_contract', 'idempotency_policy', 'source_filter', 'fail_closed', 'notes'];
  v_route penstock.iu_sql_event_route;
  v_key text;
begin
  select k into v_key from jsonb_object_keys(p_definition) k where k <> all (v_known) order by k limit 1;
  if v_key is not null then
    raise exception using errcode = 'PS011', message = format('SQL route %s: %s is nothing a route has', p_route_code, v_key),
      hint = 'It may have ' || array_to_string(v_known, ', ') || '.';
  end if;
  v_route := jsonb_populate_record(v_route, p_definition);
  v_route.route_code := p_route_code;
  v_route.registered_by := p_actor;
  v_route.fail_closed := coalesce(v_route.fail_closed, true);
  v_route.source_object_kind := coalesce(v_route.source_object_kind,
    case v_route.sql_event when 'call' then 'routine' when 'ddl' then 'database' else 'table' end);
  v_route.target_event_stream := penstock.event_type_checked(v_route.target_event_domain, v_route.target_event_type,
                                                             v_route.target_event_stream);
  perform penstock.sql_route_check(v_route);
  return v_route;
exception when invalid_text_representation or invalid_parameter_value then
  raise exception using errcode = 'PS011', message = format('SQL route %s cannot be read: %s', p_route_code, sqlerrm);
end
$$;

-- Name: sql_route_routine(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_routine(p_route penstock.iu_sql_event_route) RETURNS regprocedure
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_found regprocedure[];
begin
  select array_agg(p.oid::regprocedure) into v_found from pg_proc p join pg_namespace s on s.oid = p.pronamespace
   where s.nspname = (p_route).source_schema and s.nspname <> 'penstock' and p.prokind in ('f', 'p')
     and (p_route).source_table in (p.proname, format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
                                    format('%s(%s)', p.proname, oidvectortypes(p.proargtypes)));
  if coalesce(cardinality(v_found), 0) <> 1 then
    raise exception using errcode = 'PS011', message = format('SQL route %s: %s routines are called %s.%s', (p_route).route_code,
      coalesce(cardinality(v_found), 0), (p_route).source_schema, (p_route).source_table),
      hint = 'With its argument types, such as pay(integer, text), one of several is meant.';
  end if;
  return v_found[1];
end
$$;

-- Name: sql_route_rows(penstock.iu_sql_event_route, regclass); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_rows(p_route penstock.iu_sql_event_route, p_table regclass) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_there text[] := array(select a.attname::text from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped);
  v_key text[] := penstock.table_key(p_table);
  v_subject text[] := penstock.names_of((p_route).payload_contract -> 'subject');
  v_once text[] := penstock.names_of((p_route).idempotency_policy -> 'key');
  -- as it is called now: it may have been renamed
  v_table text := (select format('%s.%s', s.nspname, c.relname) from pg_class c join pg_namespace s on s.oid = c.relnamespace
                    where c.oid = p_table);
begin
  if (p_route).sql_event = 'truncate' then
    return format('select %L::text as subject_table, null::text as subject_ref, null::jsonb as payload, null::text as once_key', v_table);
  end if;
  return format('select %L::text as subject_table, %s as subject_ref, %s as payload, %s as once_key from changed n%s', v_table,
    penstock.sql_route_joined(p_table, case when cardinality(v_subject) > 0 then v_subject else v_key end, v_there),
    penstock.sql_route_payload(p_route, p_table),
    -- a key with a column that is gone would make one event of many
    case when cardinality(v_once) > 0 and v_once <@ v_there then
      format('%L || md5(jsonb_build_array(%s)::text)', (p_route).route_code || ':', 
        (select string_agg(penstock.sql_route_value(p_table, c, 'n'), ', ' order by o) from unnest(v_once) with ordinality u(c, o)))
      else 'null::text' end,
    penstock.sql_route_filter(p_route, p_table));
end
$$;

-- Name: sql_route_sized(jsonb, text, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_sized(p_payload jsonb, p_route_code text, p_small_bytes integer) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN CASE WHEN (pg_column_size(p_payload) <= p_small_bytes) THEN p_payload ELSE penstock.sql_route_checked(p_payload, p_route_code) END;

-- Name: sql_route_state(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case
    when not (p_route).enabled then 'disabled'
    when (p_route).source_object_kind = 'table' and t.relid is null then
      case when exists (select from pg_trigger g where g.tgname = 'penstock_route_' || (p_route).route_id) then 'renamed'
           else 'table_missing' end
    when (p_route).source_object_kind = 'table' and not exists (
      select from pg_trigger g where g.tgrelid = t.relid and g.tgname = 'penstock_route_' || (p_route).route_id and g.tgenabled <> 'D')
      then 'not_applied'
    when (p_route).source_object_kind = 'database' and 2 > (
      select count(*) from pg_event_trigger g where g.evtname in ('penstock_ddl', 'penstock_drop') and g.evtenabled <> 'D')
      then 'not_applied'
    when (p_route).source_filter is not null and cardinality(penstock.table_key(t.relid)) = 0 then 'broken'
    when (p_route).source_object_kind = 'table' and exists (
      select from unnest(penstock.sql_route_columns(p_route)) n where not exists (
        select from pg_attribute a where a.attrelid = t.relid and a.attname = n and a.attnum > 0 and not a.attisdropped)) then 'broken'
    when (p_route).dry_run then 'dry_run' else 'live' end
    from (select penstock.sql_route_table(p_route)) t(relid)
$$;

-- Name: sql_route_statement(penstock.iu_sql_event_route, regclass, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_statement(p_route penstock.iu_sql_event_route, p_table regclass, p_values text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  select case when cardinality(penstock.names_of((p_route).idempotency_policy -> 'key')) = 0 then format(
    'insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor,
       correlation_id, causation_event_id, causation_depth, trace)
     select %s, r.subject_table, r.subject_ref, r.payload, %s from (%s) r', t.target, t.rest, t.rows)
  else format(
    'with made as materialized (select gen_random_uuid() as event_id, r.* from (%3$s) r),
     taken as (
       insert into penstock.once_key as k (scope, key, ref, expires_at)
       select %4$L, f.once_key, f.event_id::text, (%5$s).expires_at
         from (select distinct on (m.once_key collate "C") m.once_key, m.event_id from made m where m.once_key is not null
                order by m.once_key collate "C") f
       on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
       returning k.ref)
     insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor,
       correlation_id, causation_event_id, causation_depth, trace, event_id)
     select %1$s, m.subject_table, m.subject_ref, m.payload, %2$s, m.event_id from made m
      where m.once_key is null or m.event_id::text in (select ref from taken)',
    t.target, t.rest, t.rows, 'event:' || (p_route).target_event_domain || '.' || (p_route).target_event_type, p_values) end
    from (select format('%L, %L, %L', (p_route).target_event_domain, (p_route).target_event_type, (p_route).target_event_stream) as target,
                 format('(%1$s).actor, (%1$s).correlation_id, (%1$s).causation_event_id, (%1$s).causation_depth, (%1$s).trace',
                        p_values) as rest,
                 penstock.sql_route_rows(p_route, p_table) as rows) t
$_$;

-- Name: sql_route_table(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_table(p_route penstock.iu_sql_event_route) RETURNS regclass
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select c.oid::regclass from pg_class c join pg_namespace s on s.oid = c.relnamespace
   where (p_route).source_object_kind = 'table' and s.nspname = (p_route).source_schema and c.relname = (p_route).source_table
$$;

-- Name: sql_route_table_check(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_table_check(p_route penstock.iu_sql_event_route) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_name text := format('%s.%s', (p_route).source_schema, (p_route).source_table);
  v_table regclass := penstock.sql_route_table(p_route);
  v_kind "char" := (select c.relkind from pg_class c where c.oid = v_table);
  v_missing text;
  v_fault text;
begin
  select string_agg(n, ', ') into v_missing from unnest(penstock.sql_route_columns(p_route)) n
   where not exists (select from pg_attribute a where a.attrelid = v_table and a.attname = n and a.attnum > 0 and not a.attisdropped);
  v_fault := case
    when v_table is null then format('table %s does not exist', v_name)
    when v_kind not in ('r', 'p') then format('%s is no table', v_name)
    when (p_route).source_schema = 'penstock' then 'what Penstock writes becomes no event this way'
    when v_missing is not null then format('%s has no column %s', v_name, v_missing)
    when (p_route).source_filter is not null and cardinality(penstock.table_key(v_table)) = 0 then
      format('%s has no primary key: what has changed in a row cannot be told', v_name) end;
  if v_fault is not null then
    raise exception using errcode = 'PS011', message = format('SQL route %s: %s', (p_route).route_code, v_fault);
  end if;
end
$$;

-- Name: sql_route_trigger(penstock.iu_sql_event_route); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_trigger(p_route penstock.iu_sql_event_route) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_name text := 'sql_route_' || (p_route).route_id;
  v_trigger text := 'penstock_route_' || (p_route).route_id;
  v_table regclass := penstock.sql_route_table(p_route);
  v_was name := case when (p_route).source_filter is not null then 'was' end;
  v_old name := case (p_route).sql_event when 'delete' then 'changed' when 'update' then v_was end;
  v_new name := case when (p_route).sql_event in ('insert', 'update') then 'changed' end;
  v_tables text;
begin
  perform penstock.partition_ensure('event_outbox', now());
  execute format('create or replace function penstock.%I() returns trigger language plpgsql security definer '
                 'set search_path = pg_catalog, pg_temp %s as %L', v_name,
                 concat_ws(' ', case when v_was is not null then 'set enable_nestloop = off set jit = off' end,
                           case when (p_route).idempotency_policy is not null
                             then 'set timezone = ''UTC'' set datestyle = ''ISO, YMD''' end),
                 case when v_table is null then 'begin return null; end' else penstock.sql_route_body(p_route, v_table) end);
  execute format('revoke all on function penstock.%I() from public', v_name);
  perform penstock.sql_route_untriggered(v_trigger, case when (p_route).enabled then v_table end);
  if v_table is null or not (p_route).enabled or exists (
    select from pg_trigger g where g.tgrelid = v_table and g.tgname = v_trigger and g.tgenabled <> 'D'
       and g.tgoldtable is not distinct from v_old and g.tgnewtable is not distinct from v_new
       and g.tgtype = case (p_route).sql_event when 'insert' then 4 when 'delete' then 8 when 'update' then 16 else 32 end) then
    return;
  end if;
  v_tables := concat_ws(' ', 'old table as ' || v_old, 'new table as ' || v_new);
  execute format('create or replace trigger %I after %s on %s %s for each statement execute function penstock.%I()', v_trigger,
                 (p_route).sql_event, v_table, case when v_tables <> '' then 'referencing ' || v_tables end, v_name);
exception when insufficient_privilege then
  raise exception using errcode = '42501', message = format('SQL route %s: %s may not put a trigger on %s', (p_route).route_code,
    current_user, v_table), hint = format('The owner of the table runs: grant trigger on %s to %I', v_table, current_user);
end
$$;

-- Name: sql_route_untriggered(text, regclass); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_untriggered(p_trigger text, p_but regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_table regclass;
begin
  for v_table in select g.tgrelid::regclass from pg_trigger g
                  where g.tgname = p_trigger and not g.tgisinternal and g.tgparentid = 0 and g.tgrelid is distinct from p_but loop
    begin
      execute format('drop trigger %I on %s', p_trigger, v_table);
    exception when insufficient_privilege or lock_not_available then
      raise notice 'the trigger % on % stays, and does nothing any more (%)', p_trigger, v_table, sqlerrm;
    end;
  end loop;
end
$$;

-- Name: sql_route_value(regclass, text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.sql_route_value(p_table regclass, p_column text, p_row text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  with recursive type as (
    select t.* from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = p_table and a.attname = p_column and not a.attisdropped
    union all
    select b.* from type t join pg_type b on b.oid = t.typbasetype)
  select case when t.typnamespace = 'pg_catalog'::regnamespace then format('%s.%I', p_row, p_column)
              else format('case when %1$s.%2$I is null then null else format(''%%s'', %1$s.%2$I) end', p_row, p_column) end
    from type t where t.typtype <> 'd'
$_$;

-- Name: stage_drop(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.stage_drop(p_stage text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
begin
  execute format('drop table if exists penstock.%I', p_stage);
  delete from penstock.ingest_chunk c where c.stage = p_stage;
  delete from penstock.ingest_slice s where s.stage = p_stage;
  return true;
exception when lock_not_available then
  return false;
end
$$;

-- Name: stage_name(text, bigint, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.stage_name(p_subscription text, p_token bigint, p_lane integer) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_lane is null or p_lane not in (0, 1) then
    raise exception using errcode = 'PS011', message = format('there is no lane %s of a staging table', coalesce(p_lane::text, 'null')),
      hint = 'Lanes are 0 and 1.';
  end if;
  return (select format('ingest_stage_%s_%s_%s', s.subscription_id, p_token, p_lane)
            from penstock.subscription s where s.path = p_subscription);
end
$$;

-- Name: staged_time(json); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.staged_time(p_time json) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    RETURN CASE json_typeof(p_time) WHEN 'number'::text THEN (('1970-01-01 00:00:00+00'::timestamp with time zone + ('01:00:00'::interval * ((((p_time #>> '{}'::text[]))::bigint / '3600000000'::bigint))::double precision)) + ('00:00:00.000001'::interval * ((((p_time #>> '{}'::text[]))::bigint % '3600000000'::bigint))::double precision)) ELSE ((p_time #>> '{}'::text[]))::timestamp with time zone END;

-- Name: staging_move(bigint[], text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.staging_move(p_staging_ids bigint[], p_from text, p_to text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_moved integer;
begin
  update penstock.iu_staging_record r set state = p_to
    from (select o.staging_id from penstock.iu_staging_record o
           where o.staging_id = any (p_staging_ids) and o.state = p_from order by o.staging_id for update) l
   where r.staging_id = l.staging_id;
  get diagnostics v_moved = row_count;
  return v_moved;
end
$$;

-- Name: step_replayed(bigint, penstock.job_dead_letter, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.step_replayed(p_execution_id bigint, p_letter penstock.job_dead_letter, p_actor penstock.actor_ref) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_status text := (select w.status from penstock.job_workflow w where w.execution_id = p_execution_id);
begin
  if v_status in ('cancelling', 'cancelled', 'succeeded')
     or penstock.execution_retried(p_execution_id, p_letter.job_id, p_actor) = 0 then
    raise exception using errcode = 'PS009',
      message = format('execution %s is %s: its step %s cannot be run again', p_execution_id, v_status, p_letter.snapshot ->> 'step'),
      hint = format('penstock execution show %s says where it stands.', p_execution_id);
  end if;
  return (select d.replay_job_id from penstock.job_dead_letter d where d.dead_letter_id = p_letter.dead_letter_id);
end
$$;

-- Name: step_timeouts_check(text, integer, jsonb); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.step_timeouts_check(p_path text, p_version integer, p_content jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_step text;
  v_kind text;
  v_asked_s bigint;
  v_most_ms bigint;
begin
  select s.step, s.job_kind, a.asked_s, k.most_ms into v_step, v_kind, v_asked_s, v_most_ms
    from jsonb_to_recordset(p_content -> 'workflow') w(step text, timeout_s bigint, tool jsonb)
    join penstock.playbook_step s on s.path = p_path and s.version = p_version and s.step = w.step
   cross join lateral (select penstock.config_for_kind('queue.timeout_ms', s.job_kind, 900000)) k(most_ms)
   cross join lateral (
     select w.timeout_s
     union all
     select (t ->> 'timeout_s')::bigint
       from jsonb_array_elements(case jsonb_typeof(w.tool) when 'array' then w.tool else jsonb_build_array(w.tool) end) t
   ) a(asked_s)
   where a.asked_s * 1000 > k.most_ms
   order by s.ordinal, a.asked_s desc limit 1;
  if v_step is not null then
    raise exception using errcode = 'PS011',
      message = format('%s: timeout_s of %s is %s, and a job of its kind, %s, ends after %s s', p_path, v_step, v_asked_s, v_kind,
        trim_scale(v_most_ms / 1000.0)),
      detail = v_step,
      hint = format('Lower it, or first: penstock config set queue.timeout_ms.%s %s', v_kind, v_asked_s * 1000);
  end if;
end
$$;

-- Name: steps_end(penstock.step_end[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.steps_end(p_ends penstock.step_end[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_ends penstock.step_end[] := array(select e from unnest(p_ends) e where e.how not in ('stuck', 'gone'));
  v_starts penstock.step_start[] := '{}';
begin
  if exists (select from unnest(v_ends) e where e.next is not null or e.how in ('skipped', 'failed', 'late')) then
    perform penstock.partition_ensure('execution_event', now());
    insert into penstock.execution_event (execution_id, job_id, happening, actor, detail)
    select e.execution_id,
           -- of a job that only decides, the step's own
           coalesce((select t.job_id from penstock.job_step t
                      where e.item = -1 and (t.execution_id, t.step_id, t.visit, t.item) = (e.execution_id, e.step_id, e.visit, 0)),
                    e.job_id), 'step_' || case e.how when 'done' then 'decided' else e.how end, 'system:playbook',
           jsonb_strip_nulls(jsonb_build_object('step', s.step, 'next', e.next, 'visit', nullif(e.visit, 1)))
      from unnest(v_ends) e join penstock.playbook_step s on s.step_id = e.step_id
     where e.next is not null or e.how in ('skipped', 'failed', 'late');
  end if;
  if exists (select from unnest(v_ends) e where e.item > 0 or e.items is not null) then
    v_starts := penstock.loops_opened(v_ends);
    v_ends := array(select e from unnest(v_ends) e where e.item <= 0 and coalesce(jsonb_array_length(e.items), 0) = 0)
              || penstock.loops_ended(array(select e from unnest(v_ends) e where e.item > 0));
  end if;
  if exists (select from unnest(p_ends) e where e.item > 0 and e.how <> 'gone') then
    perform penstock.loops_advance(p_ends);
  end if;
  v_starts := v_starts || penstock.arcs_followed(v_ends);
  if cardinality(v_starts) > 0 then
    perform penstock.steps_start(v_starts);
  end if;
  perform penstock.workflows_counted(p_ends, v_starts);
end
$$;

-- Name: steps_failed(bigint[], text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.steps_failed(p_job_ids bigint[], p_reason text) RETURNS penstock.step_end[]
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(
    select row(q.execution_id, q.step_id, q.visit, q.item, q.job_id,
               case when q.item = -1 then 'stuck'
                    when p_reason = 'deadline' and exists (
                      select from penstock.playbook_arc a where a.from_step = q.step_id and a.kind = 'late') then 'late'
                    when s.on_error = 'continue' then 'done' when s.on_error = 'step' then 'failed' else 'stuck' end,
               null, null)::penstock.step_end
      from penstock.job_queue q join penstock.playbook_step s on s.step_id = q.step_id
     where q.job_id = any (p_job_ids) and q.execution_id is not null
     order by q.job_id)
$$;

-- Name: steps_finished(bigint[], bigint[], jsonb[], bigint[], bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.steps_finished(p_job_ids bigint[], p_tokens bigint[], p_next jsonb[], p_without bigint[], p_rules bigint[], OUT done bigint[], OUT bad bigint[], OUT lanes text[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_ends penstock.step_end[];
  v_plain penstock.step_start[];
begin
  perform penstock.workflows_locked(p_job_ids, false);
  bad := array(
    select x.ordinality
      from unnest(p_job_ids, p_tokens) with ordinality x(job_id, token, ordinality)
      join penstock.job_queue q on q.job_id = x.job_id
      left join penstock.playbook_step s on s.step_id = q.step_id
     where q.job_id = any (p_job_ids)
       and case when q.execution_id is null then p_next[x.ordinality] is not null
                else (s.plain_next is null or p_next[x.ordinality] is not null)
                     and penstock.next_fault(q.execution_id, q.step_id, q.item, p_next[x.ordinality]) is not null end);
  with gone as (
    delete from penstock.job_queue q
     using (select * from unnest(p_job_ids, p_tokens) with ordinality u(job_id, token, ordinality) order by u.job_id) x
     where q.job_id = any (p_job_ids) and q.job_id = x.job_id and q.lease_token = x.token and q.status in ('leased', 'running')
       and q.execution_id is not null and not q.cancel_requested and (p_rules is null or q.rule = any (p_rules))
       and x.ordinality <> all (p_without) and x.ordinality <> all (bad)
    returning x.ordinality, q.*
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status)
    select g.job_id, clock_timestamp(), g.lease_token, g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'succeeded' from gone g
  )
  select array_agg(g.ordinality), array_agg(g.lane) filter (where g.lane is not null),
         array_agg(row(g.execution_id, s.plain_next, 1, 0, null, g.job_id, array[g.step_id], null, null, null, false)::penstock.step_start
                   order by g.ordinality) filter (where s.plain_next is not null and g.item = 0),
         array_agg(row(g.execution_id, g.step_id, g.visit, g.item, g.job_id,
                       case when p_next[g.ordinality] @> '{"skipped": true}' then 'skipped' else 'done' end,
                       case when p_next[g.ordinality] ? 'next'
                            then array(select jsonb_array_elements_text(p_next[g.ordinality] -> 'next')) end,
                       p_next[g.ordinality] -> 'items')::penstock.step_end
                   order by g.ordinality) filter (where s.plain_next is null or g.item <> 0)
    into done, lanes, v_plain, v_ends
    from gone g join penstock.playbook_step s on s.step_id = g.step_id;
  if v_plain is not null then
    perform penstock.steps_start(v_plain);
  end if;
  if v_ends is not null then
    perform penstock.steps_end(v_ends);
  end if;
end
$$;

-- Name: steps_forget(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.steps_forget(p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_over bigint[] := array(select g.execution_id from penstock.job_workflow_gone g
                            order by g.execution_id limit p_limit for update skip locked);
  v_jobs bigint[];
  v_deciders bigint[];
begin
  if v_over = '{}' then
    return 0;
  end if;
  with gone as (
    delete from penstock.job_step t
     where t.ctid = any (array(select s.ctid from penstock.job_step s where s.execution_id = any (v_over) limit p_limit))
    returning t.job_id, t.decider)
  select coalesce(array_agg(g.job_id), '{}'), array_remove(array_agg(g.decider), null) into v_jobs, v_deciders from gone g;
  delete from penstock.job_item i where i.job_id = any (v_jobs);
  delete from penstock.job_result r where r.job_id = any (v_jobs || v_deciders);
  -- in a new statement: those that have none left
  v_over := array(
    select o from unnest(v_over) o
     where not exists (select from penstock.job_step t where t.execution_id = o offset 0));
  delete from penstock.job_join j where j.execution_id = any (v_over);
  delete from penstock.job_loop l where l.execution_id = any (v_over);
  delete from penstock.execution_input i where i.execution_id = any (v_over);
  delete from penstock.job_workflow_gone g where g.execution_id = any (v_over);
  return cardinality(v_jobs);
end
$$;

-- Name: steps_hold(bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.steps_hold(p_job_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_lanes text[];
begin
  with held as (
    update penstock.job_queue q set status = 'blocked', hold = 'paused'
      from penstock.job_workflow w
     where q.job_id = any (p_job_ids) and q.execution_id is not null and q.status in ('ready', 'scheduled', 'retrying')
       and w.execution_id = q.execution_id and w.status = 'paused'
    returning q.lane)
  select array_agg(h.lane) filter (where h.lane is not null) into v_lanes from held h;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
end
$$;

-- Name: steps_start(penstock.step_start[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.steps_start(p_starts penstock.step_start[]) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_lanes text[];
  v_count integer;
begin
  perform penstock.partition_ensure('job', now());
  with numbered as materialized (
    select s.*, coalesce(s.job_id, nextval('penstock.job_id_seq')) as id from unnest(p_starts) with ordinality s order by s.ordinality
  ), made as materialized (
    select n.*, w.priority, w.playbook_ref, w.subscription, w.correlation_id, w.causation_event_id, w.causation_depth, w.trace, w.actor,
           w.payload_ref, w.source, w.status = 'paused' as is_paused, p.step, p.executor, p.max_attempts,
           coalesce(case when p.is_start and n.visit = 1 and n.item = 0 then w.lane end, p.lane) as lane,
           case when n.item = -1 then 'tool:decide' else p.job_kind end as job_kind,
           coalesce(w.pool, p.pool, case when w.subscription is null then 'shared' else 'subscription' end) as pool,
           case when n.job_id is not null then w.source_ref
                when n.from_job is not null then 'penstock://result/' || n.from_job end as source_ref
      from numbered n
      join penstock.job_workflow w on w.execution_id = n.execution_id and w.status in ('running', 'paused')
      join penstock.playbook_step p on p.step_id = n.step_id
  ), jobs as (
    insert into penstock.job (
      job_id, enqueued_at, execution_id, step, playbook_ref, subscription, job_kind, executor, pool, lane, priority, process_after,
      max_attempts, source_ref, payload_ref, safe_payload, correlation_id, causation_event_id, causation_depth, trace, actor)
    select m.id, now(), m.execution_id, m.step, m.playbook_ref, m.subscription, m.job_kind, m.executor, m.pool, m.lane, m.priority,
           m.process_after, m.max_attempts, m.source_ref, m.payload_ref,
           case when m.visit > 1 or m.item <> 0
                then jsonb_strip_nulls(jsonb_build_object('visit', nullif(m.visit, 1), 'item', nullif(m.item, 0))) end,
           m.correlation_id, m.causation_event_id, m.causation_depth, m.trace, m.actor
      from made m
  ), queued as (
    insert into penstock.job_queue (
      job_id, enqueued_at, process_after, status, priority, max_attempts, executor, job_kind, pool, lane, source, execution_id, step_id,
      visit, item, hold)
    select m.id, now(), m.process_after,
           case when m.is_paused or m.hold is not null then 'blocked'::penstock.job_status when m.process_after > now() then 'scheduled'
                when m.lane is null then 'ready' else 'blocked' end,
           m.priority, m.max_attempts, m.executor, m.job_kind, m.pool, m.lane, m.source, m.execution_id, m.step_id, m.visit, m.item,
           coalesce(m.hold, case when m.is_paused then 'paused' end)
      from made m
  ), steps as (
    insert into penstock.job_step (execution_id, step_id, visit, item, job_id, enqueued_at, via)
    select m.execution_id, m.step_id, m.visit, m.item, m.id, now(), m.via from made m where m.item >= 0 and not coalesce(m.is_again, false)
  ), decides as (
    update penstock.job_step t set decider = m.id
      from made m where m.item = -1 and (t.execution_id, t.step_id, t.visit, t.item) = (m.execution_id, m.step_id, m.visit, 0)
  ), again as (
    update penstock.job_step t set job_id = m.id, enqueued_at = now(), decider = null
      from made m where m.is_again and (t.execution_id, t.step_id, t.visit, t.item) = (m.execution_id, m.step_id, m.visit, m.item)
  ), items as (
    insert into penstock.job_item (job_id, item) select m.id, m.value from made m where m.value is not null
  )
  select count(*), array_agg(distinct m.lane) filter (where m.lane is not null and m.hold is null and not m.is_paused)
    into v_count, v_lanes from made m;
  if v_lanes is not null then
    perform penstock.lanes_settle(v_lanes);
  end if;
  perform penstock.wake(array['']);
  return v_count;
end
$$;

-- Name: subscription_activable(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscription_activable(p_path text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_spec jsonb;
begin
  select c.content -> 'spec' into v_spec
    from penstock.subscription s join penstock.catalog c on c.path = s.path and c.version = s.version where s.path = p_path;
  if v_spec ->> 'mode' = 'push' then
    raise exception using errcode = 'PS018', message = format('subscription %s is push: this version pulls only', p_path),
      hint = 'It stays registered. Push comes with the gateway.';
  end if;
  if coalesce(v_spec #>> '{spool,mode}', 'off') <> 'off' then
    raise exception using errcode = 'PS018',
      message = format('subscription %s has spool.mode %s: this version has no spool', p_path, v_spec #>> '{spool,mode}'),
      hint = 'Remove the spool: block, or set spool.mode to off: the source keeps what is not committed.';
  end if;
  if v_spec ->> 'source' = 'webhook' then
    raise exception using errcode = 'PS018',
      message = format('subscription %s reads %s: this version reads kafka, nats, pubsub and sources of your own', p_path,
                       v_spec ->> 'source');
  end if;
end
$$;

-- Name: subscription_caution(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscription_caution(p_path text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select 'an older copy of the database, once restored, is not noticed here: what was acknowledged since is missing then. '
         'Say restore_mark: true (the login needs roles/pubsub.editor for it), or seek the Pub/Sub subscription back after a restore'
    from penstock.subscription s join penstock.catalog c on c.path = s.path and c.version = s.version
   where s.path = p_path and c.content #>> '{spec,source}' = 'pubsub' and c.content #>> '{spec,mode}' = 'pull'
     and c.content #>> '{spec,restore_mark}' is distinct from 'true'
$$;

-- Name: subscription_event(text, text, penstock.actor_ref, jsonb, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscription_event(p_path text, p_happening text, p_actor penstock.actor_ref, p_detail jsonb DEFAULT NULL::jsonb, p_execution_id bigint DEFAULT NULL::bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
  -- before the row has its number: who reads by numbers asks which transactions are under way
  perform pg_current_xact_id();
  perform penstock.partition_ensure('execution_event', now());
  insert into penstock.execution_event (execution_id, job_id, happening, actor, detail, subscription)
  values (p_execution_id, p_execution_id, 'subscription.' || p_happening, p_actor, p_detail, p_path);
  if p_happening !~ '^message\.(deduplicated|rejected|spooled|replayed)$' then
    perform penstock.event_insert(gen_random_uuid(), 'system', 'subscription.' || p_happening,
      case when p_happening ~ '^(registered|activated|paused|resumed|draining|deactivated)$' then 'update' else 'alert' end,
      'subscription', p_path, p_detail, p_actor, null, null, null);
  end if;
end
$_$;

-- Name: subscription_locked(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscription_locked(p_path text) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_state text;
begin
  select s.state into v_state from penstock.subscription s where s.path = p_path for update;
  if v_state is null then
    raise exception using errcode = 'PS017', message = format('subscription %s is not registered', p_path),
      hint = 'Register it: penstock subscription register FILE';
  end if;
  return v_state;
end
$$;

-- Name: subscription_moved(text, text, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscription_moved(p_path text, p_to text, p_actor penstock.actor_ref) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_from text;
begin
  select s.state into v_from from penstock.subscription s where s.path = p_path;
  update penstock.subscription s set state = p_to, moved_at = now() where s.path = p_path;
  perform penstock.subscription_schedule(p_path, p_actor);
  perform penstock.subscription_event(p_path,
    case when p_to = 'ACTIVE' and v_from = 'PAUSED' then 'resumed'
         else (jsonb_build_object('ACTIVE', 'activated', 'PAUSED', 'paused', 'DRAINING', 'draining', 'DEACTIVATED', 'deactivated'))
              ->> p_to end,
    p_actor, jsonb_build_object('from', v_from)
      || case when p_to = 'ACTIVE' then jsonb_strip_nulls(jsonb_build_object('caution', penstock.subscription_caution(p_path)))
              else '{}' end);
  return p_to;
end
$$;

-- Name: subscription_moves(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscription_moves() RETURNS TABLE(action text, from_state text, to_state text)
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  values ('activate', 'REGISTERED', 'ACTIVE'), ('activate', 'PAUSED', 'ACTIVE'), ('activate', 'DRAINING', 'ACTIVE'),
         ('activate', 'DEACTIVATED', 'ACTIVE'), ('activate', 'ACTIVE', 'ACTIVE'),
         ('pause', 'ACTIVE', 'PAUSED'), ('pause', 'PAUSED', 'PAUSED'),
         ('resume', 'PAUSED', 'ACTIVE'), ('resume', 'ACTIVE', 'ACTIVE'),
         ('drain', 'ACTIVE', 'DRAINING'), ('drain', 'PAUSED', 'DRAINING'), ('drain', 'DRAINING', 'DRAINING'),
         ('deactivate', 'REGISTERED', 'DEACTIVATED'), ('deactivate', 'ACTIVE', 'DEACTIVATED'),
         ('deactivate', 'PAUSED', 'DEACTIVATED'), ('deactivate', 'DRAINING', 'DEACTIVATED'),
         ('deactivate', 'DEACTIVATED', 'DEACTIVATED')
$$;

-- Name: subscription_registered(text, integer, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscription_registered(p_path text, p_version integer, p_actor penstock.actor_ref) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_state text;
begin
  if p_version > 1 then
    update penstock.subscription s set version = p_version where s.path = p_path returning s.state into v_state;
    if v_state in ('ACTIVE', 'PAUSED') then
      perform penstock.subscription_activable(p_path);
    end if;
    perform penstock.subscription_schedule(p_path, p_actor);
    return;
  end if;
  insert into penstock.subscription (path, version) values (p_path, p_version);
  insert into penstock.subscription_runtime (path) values (p_path);
  perform penstock.subscription_event(p_path, 'registered', p_actor, jsonb_build_object('version', p_version));
end
$$;

-- Name: subscription_schedule(text, penstock.actor_ref); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscription_schedule(p_path text, p_actor penstock.actor_ref) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_id text;
  v_number bigint;
  v_state text;
  v_spec jsonb;
  v_next timestamptz;
begin
  select s.state, s.subscription_id, c.content -> 'spec' into v_state, v_number, v_spec
    from penstock.subscription s join penstock.catalog c on c.path = s.path and c.version = s.version where s.path = p_path;
  v_id := 'subscription-' || v_number;
  if v_state <> 'ACTIVE' or v_spec ->> 'activation' is distinct from 'scheduled' then
    delete from penstock.schedule s where s.schedule_id = v_id;
    if found then
      perform penstock.drains_cancel('drain:' || v_number, p_actor);
    end if;
    return;
  end if;
  v_next := penstock.schedule_next(v_spec ->> 'cadence', null, 'UTC', now());
  insert into penstock.schedule as s (schedule_id, cron, timezone, job, next_run_at, set_by)
  values (v_id, v_spec ->> 'cadence', 'UTC',
          jsonb_build_object('kind', 'drain:' || v_number, 'pool', 'subscription', 'max_attempts', 1, 'lane', 'drain:' || v_number,
                             'target_ref', p_path),
          v_next, p_actor)
  on conflict (schedule_id) do update set cron = excluded.cron, job = excluded.job, enabled = true, set_at = now(),
    next_run_at = case when s.cron = excluded.cron then s.next_run_at else excluded.next_run_at end;
end
$$;

-- Name: subscriptions_watch(); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.subscriptions_watch() RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_limit interval := penstock.config_text('subscription.stall_s', '60')::bigint * interval '1 second';
  v_path text;
  v_stalled record;
  v_unattended record;
  v_count integer := 0;
begin
  for v_path in
    select s.path from penstock.subscription s join penstock.subscription_runtime r using (path)
     where s.state = 'DRAINING' and coalesce(r.lease_until, '-infinity') < clock_timestamp() for update of s, r skip locked
  loop
    perform penstock.subscription_moved(v_path, 'DEACTIVATED', 'system:queue_tick');
    v_count := v_count + 1;
  end loop;
  for v_stalled in
    update penstock.subscription_runtime r set is_stalled = true
     where r.path in (
       select x.path from penstock.subscription_runtime x join penstock.subscription s using (path)
        where s.state = 'ACTIVE' and not x.is_stalled and x.backlog_since < clock_timestamp() - v_limit
          and coalesce(x.last_commit_at, '-infinity') < clock_timestamp() - v_limit for update of x skip locked)
    returning r.path, r.backlog, r.backlog_since, r.last_commit_at
  loop
    perform penstock.subscription_event(v_stalled.path, 'stalled', 'system:queue_tick', jsonb_build_object(
      'backlog', v_stalled.backlog, 'since', v_stalled.backlog_since, 'last_commit_at', v_stalled.last_commit_at));
    v_count := v_count + 1;
  end loop;
  for v_unattended in
    update penstock.subscription_runtime r set unattended_at = clock_timestamp()
      from (select x.path, u.since
              from penstock.subscription_runtime x join penstock.subscription s using (path)
              join penstock.catalog c on c.path = s.path and c.version = s.version
             cross join lateral (select greatest(x.lease_until, x.released_at, s.moved_at)) u(since)
             where s.state = 'ACTIVE' and c.content #>> '{spec,mode}' = 'pull'
               and coalesce(c.content #>> '{spec,activation}', 'continuous') = 'continuous'
               and u.since < clock_timestamp() - v_limit and coalesce(x.unattended_at, '-infinity') < u.since
               for update of x skip locked) n
     where r.path = n.path
    returning r.path, n.since, r.backlog, r.last_commit_at
  loop
    perform penstock.subscription_event(v_unattended.path, 'unattended', 'system:queue_tick', jsonb_build_object(
      'since', v_unattended.since, 'backlog', v_unattended.backlog, 'last_commit_at', v_unattended.last_commit_at));
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

-- Name: system_event_once(text, text, text, jsonb, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.system_event_once(p_type text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_key text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_event uuid := gen_random_uuid();
begin
  if penstock.once_take('event:system.' || p_type, p_key, v_event::text, 'event') = v_event::text then
    perform penstock.event_insert(v_event, 'system', p_type, 'alert', p_subject_table, p_subject_ref, p_payload, 'system:queue_tick',
                                  null, null, null);
  end if;
end
$$;

-- Name: table_key(regclass); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.table_key(p_table regclass) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select array(select a.attname::text from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality k(attnum, place)
                 join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
                where i.indrelid = p_table and i.indisprimary order by k.place)
$$;

-- Name: template_format(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.template_format(p_template text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  v_fields text[] := array['event_id', 'event_domain', 'event_type', 'event_stream', 'event_subject_table', 'event_subject_ref',
                           'correlation_id', 'causation_event_id', 'actor'];
  v_format text := replace(p_template, '%', '%%');
begin
  for i in 1..cardinality(v_fields) loop
    v_format := replace(v_format, '{' || v_fields[i] || '}', '%' || i || '$s');
  end loop;
  if v_format ~ '[{}]' or p_template ~ '%[0-9]+[$]' then
    raise exception using errcode = 'PS025', message = format('template %L names %s, which is no field of an event', p_template,
      coalesce(substring(v_format from '\{[^{}]*\}?'), substring(v_format from '[}]|%[0-9]+[$]'))),
      hint = 'It may use ' || (select string_agg('{' || f || '}', ' ') from unnest(v_fields) f) || '.';
  end if;
  return v_format;
end
$_$;

-- Name: template_rendered(text, penstock.event_outbox); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.template_rendered(p_format text, p_event penstock.event_outbox) RETURNS text
    LANGUAGE sql STABLE
    RETURN CASE WHEN ((((p_event).subject_table IS NULL) AND (strpos(p_format, '%5$s'::text) > 0)) OR (((p_event).subject_ref IS NULL) AND (strpos(p_format, '%6$s'::text) > 0)) OR (((p_event).correlation_id IS NULL) AND (strpos(p_format, '%7$s'::text) > 0)) OR (((p_event).causation_event_id IS NULL) AND (strpos(p_format, '%8$s'::text) > 0))) THEN NULL::text ELSE format(p_format, (p_event).event_id, (p_event).event_domain, (p_event).event_type, (p_event).event_stream, (p_event).subject_table, (p_event).subject_ref, (p_event).correlation_id, (p_event).causation_event_id, (p_event).actor) END;

-- Name: tick_part(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.tick_part(p_part text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
declare
  v_did jsonb;
  v_report jsonb;
begin
  begin
    -- a statement per part: each is only parsed when it is run, so one broken function breaks one part
    case p_part
      when 'outbox' then v_did := to_jsonb(penstock.fn_outbox_tick());
      when 'dispatch' then v_did := penstock.fn_consumer_dispatch_run(p_limit => 5000)
                                    || jsonb_build_object('unlocked', penstock.consumers_unlocked());
      when 'broadcasts' then v_did := to_jsonb(penstock.broadcasts_count());
      when 'routes' then v_did := penstock.routes_tick();
      when 'cursors' then v_did := to_jsonb(penstock.cursors_watch());
      when 'events_sweep' then v_did := to_jsonb(penstock.events_sweep());
      when 'events_audit' then v_did := penstock.events_audit();
      when 'promote' then v_did := to_jsonb(penstock.promote_due(5000));
      when 'awaiting' then v_did := to_jsonb(penstock.awaiting_due(1000));
      when 'workflows' then v_did := penstock.workflows_sweep(500);
      when 'history' then v_did := penstock.history_sweep(2000);
      when 'reap' then v_did := to_jsonb(penstock.leases_reap());
      when 'silence' then v_did := to_jsonb(penstock.silence_watch());
      when 'schedules' then v_did := penstock.schedules_run();
      when 'lanes' then v_did := to_jsonb(penstock.lanes_sweep(200));
      when 'once_keys' then v_did := to_jsonb(penstock.once_sweep());
      when 'analyze' then v_did := to_jsonb(penstock.queue_analyze());
      when 'subscriptions' then v_did := to_jsonb(penstock.subscriptions_watch());
      when 'staging' then v_did := to_jsonb(penstock.fn_staging_expire());
      when 'partitions' then v_did := to_jsonb(penstock.partitions_ahead());
    end case;
    v_report := case when v_did ? 'error' then jsonb_build_object('ok', false, 'error', v_did -> 'error', 'did', v_did)
                     else jsonb_build_object('ok', true, 'did', v_did) end;
  exception when others then
    v_report := jsonb_build_object('ok', false, 'error', sqlerrm, 'sqlstate', sqlstate);
  end;
  insert into penstock.queue_tick_part as p (part, ran_at, failed_since, report)
  values (p_part, now(), case when not (v_report ->> 'ok')::boolean then now() end, v_report)
  on conflict (part) do update set ran_at = excluded.ran_at, report = excluded.report,
    failed_since = case when excluded.failed_since is not null then coalesce(p.failed_since, excluded.failed_since) end;
  return v_report;
end
$$;

-- Name: timezone_checked(text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.timezone_checked(p_timezone text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_known boolean := false;
begin
  begin
    v_known := isfinite(now() at time zone p_timezone) and (
      p_timezone !~ '[0-9<]' or exists (select from pg_timezone_names z where lower(z.name) = lower(p_timezone)));
  exception when invalid_parameter_value then
    null;
  end;
  if v_known is not true then
    raise exception using errcode = 'PS008', message = format('there is no time zone %L', p_timezone),
      hint = 'Use a name such as UTC, Europe/Berlin or America/New_York; pg_timezone_names lists them.';
  end if;
  return p_timezone;
end
$$;

-- Name: token_speaks(text, text); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.token_speaks(p_caller text, p_actor text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select pg_has_role(p_caller::name, 'penstock_gateway', 'usage')
     and exists (select from penstock.v_api_token t where t.actor = p_actor and t.state = 'live')
$$;

-- Name: tx_shifted(xid8, bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.tx_shifted(p_tx xid8, p_base bigint) RETURNS xid8
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (p_base = 0) THEN p_tx ELSE (((((p_tx)::text)::bigint + p_base))::text)::xid8 END;

-- Name: wake(text[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.wake(p_domains text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_now bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
  v_is_young boolean := clock_timestamp() < now() + interval '5 ms';
  v_name text;
  v_clock regclass;
begin
  for v_name in
    select distinct coalesce(nullif(d, ''), 'any') from unnest(p_domains) d
     where not exists (select from penstock.dot_config c where c.key = 'queue.notify.bridge_enabled' and c.value <> 'true')
       and (d <> '_outbox' or current_setting('max_prepared_transactions') = '0')
  loop
    v_clock := to_regclass('penstock.wake_' || v_name);
    if v_is_young then
      continue when v_now - coalesce(pg_sequence_last_value(v_clock), 0) between 0 and 4;
      perform setval(v_clock, v_now);
    end if;
    perform pg_notify('queue_wake_' || v_name, '');
  end loop;
end
$$;

-- Name: workflow_family(bigint[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.workflow_family(p_execution_ids bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

-- Name: workflow_mended(bigint); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.workflow_mended(p_execution_id bigint) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_ends penstock.step_end[];
  v_starts penstock.step_start[];
begin
  if exists (select from penstock.job_queue q where q.execution_id = p_execution_id) then
    return false;
  end if;
  perform penstock.happened(p_execution_id, 'execution_recounted', 'system:playbook');
  with over as (
    delete from penstock.job_loop l
     where l.execution_id = p_execution_id and l.remaining > 0 and not exists (
       select from penstock.job_step t where (t.execution_id, t.step_id, t.visit) = (l.execution_id, l.step_id, l.visit) and t.is_stuck)
    returning l.*)
  select array_agg(row(o.execution_id, o.step_id, o.visit, 0, t.job_id, case when o.failed > 0 then 'failed' else 'done' end, null,
                       null)::penstock.step_end)
    into v_ends
    from over o join penstock.job_step t on (t.execution_id, t.step_id, t.visit, t.item) = (o.execution_id, o.step_id, o.visit, 0);
  v_starts := penstock.arcs_followed(coalesce(v_ends, '{}'));
  -- in a new statement: the loops' ends may have filled one
  v_starts := v_starts || array(
    select row(j.execution_id, j.step_id, 1, 0, null, null, j.via, null, null, null, false)::penstock.step_start
      from penstock.job_join j join penstock.job_workflow w on w.execution_id = j.execution_id and w.stuck = 0
     where j.execution_id = p_execution_id and j.via <> '{}'
       and j.step_id not in (select s.step_id from unnest(v_starts) s)
       and not exists (select from penstock.job_step t where t.execution_id = j.execution_id and t.step_id = j.step_id));
  update penstock.job_workflow w set open = 1 where w.execution_id = p_execution_id;
  if cardinality(v_starts) > 0 then
    perform penstock.steps_start(v_starts);
  end if;
  -- one end for the one it was set to
  perform penstock.workflows_counted(array[row(p_execution_id, null, null, 0, null, 'gone', null, null)::penstock.step_end], v_starts);
  return true;
end
$$;

-- Name: workflows_counted(penstock.step_end[], penstock.step_start[]); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.workflows_counted(p_ends penstock.step_end[], p_starts penstock.step_start[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_waiting bigint[];
begin
  update penstock.job_step t set is_stuck = true
    from unnest(p_ends) e
   where e.how = 'stuck' and (t.execution_id, t.step_id, t.visit, t.item) = (e.execution_id, e.step_id, e.visit, greatest(e.item, 0));
  with counted as (
    select u.execution_id, sum(u.open)::integer as open, sum(u.stuck)::integer as stuck
      from (select e.execution_id, -1 as open, (e.how = 'stuck')::integer as stuck from unnest(p_ends) e
            union all select s.execution_id, 1, 0 from unnest(p_starts) s
              join penstock.job_workflow w on w.execution_id = s.execution_id and w.status in ('running', 'paused')) u
     group by u.execution_id
    having sum(u.open) <> 0 or sum(u.stuck) <> 0
  ), moved as (
    update penstock.job_workflow w
       set open = w.open + c.open, stuck = w.stuck + c.stuck,
           status = case when w.open + c.open > 0 then w.status when w.status = 'cancelling' then 'cancelled'
                         when w.stuck + c.stuck > 0 then 'failed' else 'succeeded' end,
           finished_at = case when w.open + c.open = 0 then clock_timestamp() end,
           answer_job = case when w.open + c.open = 0 and w.parent_job is not null then nextval('penstock.job_id_seq') end
      from counted c where w.execution_id = c.execution_id
    returning w.execution_id, w.finished_at, w.parent_job
  )
  select array_agg(m.execution_id) filter (where m.finished_at is not null and m.parent_job is not null) into v_waiting from moved m;
  if v_waiting is not null then
    perform penstock.job_insert(array(
      select row(w.ordinality, f.answer_job, 'tool:child_ended', null, 'PG_worker', null, null, null,
                 jsonb_build_object('execution', w.execution_id, 'job', f.parent_job), 0, null, null, null, 'system:playbook',
                 coalesce(q.pool, 'shared'), null, null, null, null, null, null, null, null)::penstock.job_request
        from unnest(v_waiting) with ordinality w(execution_id, ordinality)
        join penstock.job_workflow f on f.execution_id = w.execution_id
        left join penstock.job_queue q on q.job_id = f.parent_job order by w.ordinality), true);
  end if;
end
$$;

-- Name: workflows_forget(timestamp with time zone, integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.workflows_forget(p_before timestamp with time zone, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_over bigint[] := array(
    select w.execution_id from penstock.job_workflow w
     where w.finished_at < p_before and not exists (select from penstock.job_queue q where q.job_id = w.parent_job)
     order by w.finished_at limit p_limit for update skip locked);
begin
  if v_over = '{}' then
    return 0;
  end if;
  perform penstock.partition_ensure('execution_event', now());
  with gone as (
    delete from penstock.job_workflow w where w.execution_id = any (v_over) returning w.*
  ), marked as (
    insert into penstock.job_workflow_gone (execution_id) select g.execution_id from gone g
  )
  insert into penstock.execution_event (execution_id, job_id, happening, actor, detail)
  select g.execution_id, g.execution_id, 'execution_swept', 'system:playbook',
         jsonb_build_object('status', g.status, 'started_at', g.started_at, 'finished_at', g.finished_at)
    from gone g
    -- offset 0: each is looked up by its id
   cross join lateral (select from penstock.job j where j.job_id = g.execution_id and j.enqueued_at = g.started_at offset 0) j;
  return cardinality(v_over);
end
$$;

-- Name: workflows_locked(bigint[], boolean); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.workflows_locked(p_job_ids bigint[], p_plain boolean DEFAULT true) RETURNS bigint[]
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_wanted bigint[] := array(
    select distinct q.execution_id from penstock.job_queue q join penstock.playbook_step s on s.step_id = q.step_id
     where q.job_id = any (p_job_ids) and q.execution_id is not null
       and (p_plain or s.plain_next is null or q.item <> 0 or q.cancel_requested));
begin
  return array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                order by w.execution_id for update);
end
$$;

-- Name: workflows_sweep(integer); Type: FUNCTION; Schema: penstock; Owner: -

CREATE FUNCTION penstock.workflows_sweep(p_limit integer) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_after bigint := coalesce((select (t.report #>> '{did,after}')::bigint from penstock.queue_tick_part t where t.part = 'workflows'), 0);
  v_seen bigint[] := array(select w.execution_id from penstock.job_workflow w
                            where w.finished_at is null and w.execution_id > v_after order by w.execution_id limit p_limit);
  v_one bigint;
  v_mended integer := 0;
begin
  for v_one in
    select w.execution_id from penstock.job_workflow w
     where w.execution_id = any (v_seen) and not exists (select from penstock.job_queue q where q.execution_id = w.execution_id)
     order by w.execution_id for update skip locked
  loop
    begin
      v_mended := v_mended + penstock.workflow_mended(v_one)::integer;
    exception when others then
      raise warning 'execution % could not be counted anew: %', v_one, sqlerrm;
    end;
  end loop;
  return jsonb_build_object('after', case when cardinality(v_seen) = p_limit then v_seen[p_limit] else 0 end, 'mended', v_mended,
                            'told', penstock.parents_told(p_limit));
end
$$;

-- Name: actor_binding; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.actor_binding (
    actor_ref penstock.actor_ref NOT NULL,
    db_role text NOT NULL,
    bound_by penstock.actor_ref NOT NULL,
    bound_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: api_token; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.api_token (
    token_id text NOT NULL COLLATE pg_catalog."C",
    secret_sha256 bytea NOT NULL,
    actor penstock.actor_ref NOT NULL,
    scopes text[] NOT NULL COLLATE pg_catalog."C",
    paths text[] COLLATE pg_catalog."C",
    note text,
    created_by penstock.actor_ref NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_by penstock.actor_ref,
    revoked_at timestamp with time zone,
    CONSTRAINT api_token_actor_check CHECK (((actor)::text !~ '^(consumer|system):'::text)),
    CONSTRAINT api_token_check CHECK (((revoked_by IS NULL) = (revoked_at IS NULL))),
    CONSTRAINT api_token_note_check CHECK ((length(note) <= 500)),
    CONSTRAINT api_token_paths_check CHECK ((cardinality(paths) > 0)),
    CONSTRAINT api_token_scopes_check CHECK ((cardinality(scopes) > 0)),
    CONSTRAINT api_token_secret_sha256_check CHECK ((octet_length(secret_sha256) = 32)),
    CONSTRAINT api_token_token_id_check CHECK ((token_id ~ '^[a-z2-7]{16}$'::text))
);

-- Name: callback_secret; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.callback_secret (
    is_only boolean DEFAULT true NOT NULL,
    secret bytea DEFAULT (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) NOT NULL,
    CONSTRAINT callback_secret_is_only_check CHECK (is_only)
);

-- Name: catalog; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.catalog (
    path text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    content jsonb NOT NULL,
    source text NOT NULL,
    registered_by penstock.actor_ref NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT catalog_kind_check CHECK ((kind = ANY (ARRAY['Playbook'::text, 'Subscription'::text]))),
    CONSTRAINT catalog_path_check CHECK ((path ~ '^[A-Za-z0-9][A-Za-z0-9_./-]{0,199}$'::text))
);

-- Name: consumer_dead_letter_dead_letter_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.consumer_dead_letter ALTER COLUMN dead_letter_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.consumer_dead_letter_dead_letter_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: consumer_dispatch; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.consumer_dispatch (
    consumer_id text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    dispatched_at timestamp with time zone DEFAULT now() NOT NULL,
    job_kind text NOT NULL COLLATE pg_catalog."C",
    idempotency_key text,
    payload_ref text,
    job_id bigint,
    detail text,
    CONSTRAINT consumer_dispatch_outcome_check CHECK ((outcome = ANY (ARRAY['dry_run'::text, 'duplicate'::text, 'failed'::text])))
);

-- Name: consumer_registry; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.consumer_registry (
    consumer_id text NOT NULL COLLATE pg_catalog."C",
    event_domain text NOT NULL COLLATE pg_catalog."C",
    event_type text NOT NULL COLLATE pg_catalog."C",
    event_stream text COLLATE pg_catalog."C",
    job_kind text NOT NULL COLLATE pg_catalog."C",
    executor penstock.executor_kind NOT NULL,
    idempotency_key_template text NOT NULL,
    payload_ref_template text,
    enabled boolean DEFAULT false NOT NULL,
    dry_run boolean DEFAULT true NOT NULL,
    fail_closed boolean DEFAULT true NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    rate_per_s numeric,
    rate_at timestamp with time zone,
    notes text,
    registered_by penstock.actor_ref NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    reviewed_by penstock.actor_ref,
    reviewed_at timestamp with time zone,
    live_at timestamp with time zone,
    CONSTRAINT consumer_registry_check CHECK (((NOT enabled) OR dry_run OR ((reviewed_by IS NOT NULL) AND (reviewed_at IS NOT NULL)))),
    CONSTRAINT consumer_registry_consumer_id_check CHECK ((consumer_id ~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$'::text)),
    CONSTRAINT consumer_registry_rate_per_s_check CHECK ((rate_per_s > (0)::numeric))
);

-- Name: dot_config; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.dot_config (
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_by penstock.actor_ref NOT NULL
);

-- Name: event_broadcast; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.event_broadcast (
    hour timestamp with time zone NOT NULL,
    event_domain text NOT NULL COLLATE pg_catalog."C",
    event_type text NOT NULL COLLATE pg_catalog."C",
    events bigint NOT NULL,
    broadcast bigint NOT NULL
);

-- Name: event_domain; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.event_domain (
    event_domain text NOT NULL COLLATE pg_catalog."C",
    registered_by penstock.actor_ref NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT event_domain_event_domain_check CHECK ((event_domain ~ '^[a-z][a-z0-9_]{0,39}$'::text))
);

-- Name: event_read; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.event_read (
    recipient_ref penstock.actor_ref NOT NULL,
    event_id uuid NOT NULL,
    read_at timestamp with time zone DEFAULT now() NOT NULL
)
PARTITION BY RANGE (read_at);

-- Name: event_subscription; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.event_subscription (
    event_subscription_id bigint NOT NULL,
    recipient_ref penstock.actor_ref NOT NULL,
    event_domain text NOT NULL COLLATE pg_catalog."C",
    event_type text COLLATE pg_catalog."C",
    event_stream text COLLATE pg_catalog."C",
    scope_subject_table text,
    scope_filter jsonb DEFAULT '{}'::jsonb NOT NULL,
    mute boolean DEFAULT false NOT NULL,
    set_by penstock.actor_ref NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT event_subscription_recipient_ref_check CHECK (((recipient_ref)::text ~ '^(role|agency|user|agent):'::text)),
    CONSTRAINT event_subscription_scope_filter_check CHECK ((jsonb_typeof(scope_filter) = 'object'::text))
);

-- Name: event_subscription_event_subscription_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.event_subscription ALTER COLUMN event_subscription_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.event_subscription_event_subscription_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: event_type_registry; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.event_type_registry (
    event_domain text NOT NULL COLLATE pg_catalog."C",
    event_type text NOT NULL COLLATE pg_catalog."C",
    event_stream text NOT NULL COLLATE pg_catalog."C",
    payload_contract jsonb,
    registered_by penstock.actor_ref NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: execution_event_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE SEQUENCE penstock.execution_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: execution_event; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.execution_event (
    execution_event_id bigint DEFAULT nextval('penstock.execution_event_id_seq'::regclass) NOT NULL,
    happened_at timestamp with time zone DEFAULT now() NOT NULL,
    execution_id bigint,
    job_id bigint,
    happening text NOT NULL COLLATE pg_catalog."C",
    actor penstock.actor_ref NOT NULL,
    detail jsonb,
    subscription text COLLATE pg_catalog."C"
)
PARTITION BY RANGE (happened_at);

-- Name: execution_input; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.execution_input (
    execution_id bigint NOT NULL,
    input jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: executor_grant; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.executor_grant (
    actor penstock.actor_ref NOT NULL,
    executor_kind penstock.executor_kind NOT NULL,
    job_kind text COLLATE pg_catalog."C",
    granted_by penstock.actor_ref NOT NULL,
    granted_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: ingest_chunk; Type: TABLE; Schema: penstock; Owner: -

CREATE UNLOGGED TABLE penstock.ingest_chunk (
    stage text NOT NULL COLLATE pg_catalog."C",
    attempt text NOT NULL COLLATE pg_catalog."C",
    messages integer NOT NULL
);

-- Name: ingest_dead_letter_dead_letter_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.ingest_dead_letter ALTER COLUMN dead_letter_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.ingest_dead_letter_dead_letter_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: ingest_message; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.ingest_message (
    execution_id bigint NOT NULL,
    ingested_at timestamp with time zone NOT NULL,
    subscription text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    message_id text NOT NULL COLLATE pg_catalog."C",
    part text NOT NULL COLLATE pg_catalog."C",
    source_offset bigint NOT NULL,
    published_at timestamp with time zone,
    message_key bytea,
    body bytea,
    attributes json NOT NULL,
    directives json,
    delivery_attempt integer
)
PARTITION BY RANGE (ingested_at);

-- Name: ingest_position; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.ingest_position (
    path text NOT NULL COLLATE pg_catalog."C",
    part text NOT NULL COLLATE pg_catalog."C",
    identity text NOT NULL,
    next_offset bigint NOT NULL,
    floor_offset bigint DEFAULT '-1'::integer NOT NULL,
    moved_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');

-- Name: ingest_slice; Type: TABLE; Schema: penstock; Owner: -

CREATE UNLOGGED TABLE penstock.ingest_slice (
    stage text NOT NULL COLLATE pg_catalog."C",
    attempt text NOT NULL COLLATE pg_catalog."C",
    start bigint NOT NULL,
    slice text NOT NULL
);

-- Name: iu_axis; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_axis (
    document text NOT NULL COLLATE pg_catalog."C",
    revision integer NOT NULL,
    live integer NOT NULL,
    changed integer NOT NULL,
    deprecated integer NOT NULL,
    refreshed_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: iu_composition; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_composition (
    document text NOT NULL COLLATE pg_catalog."C",
    revision integer NOT NULL,
    piece_ids bigint[] NOT NULL,
    size_bytes integer NOT NULL,
    sha256 bytea NOT NULL,
    composed_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: iu_piece; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_piece (
    piece_id bigint NOT NULL,
    document text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    "position" integer,
    size_bytes integer NOT NULL,
    sha256 bytea NOT NULL,
    bytes bytea NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_at timestamp with time zone,
    deprecated_at timestamp with time zone,
    CONSTRAINT iu_piece_check CHECK ((("position" IS NULL) = (deprecated_at IS NOT NULL)))
);
ALTER TABLE ONLY penstock.iu_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Name: iu_piece_piece_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.iu_piece ALTER COLUMN piece_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.iu_piece_piece_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: iu_route_attempt_attempt_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.iu_route_attempt ALTER COLUMN attempt_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.iu_route_attempt_attempt_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: iu_route_dead_letter_dead_letter_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.iu_route_dead_letter ALTER COLUMN dead_letter_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.iu_route_dead_letter_dead_letter_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: iu_sql_event_route_route_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.iu_sql_event_route ALTER COLUMN route_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.iu_sql_event_route_route_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: iu_staging_mark; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_staging_mark (
    staging_id bigint NOT NULL,
    "position" integer NOT NULL,
    first_byte integer NOT NULL,
    end_byte integer NOT NULL,
    address text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT iu_staging_mark_address_check CHECK (((length(address) >= 1) AND (length(address) <= 2000))),
    CONSTRAINT iu_staging_mark_check CHECK ((end_byte > first_byte)),
    CONSTRAINT iu_staging_mark_first_byte_check CHECK ((first_byte >= 0)),
    CONSTRAINT iu_staging_mark_position_check CHECK (("position" >= 0))
);

-- Name: iu_staging_record; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.iu_staging_record (
    staging_id bigint NOT NULL,
    run text NOT NULL COLLATE pg_catalog."C",
    document text NOT NULL COLLATE pg_catalog."C",
    format text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'staged'::text NOT NULL COLLATE pg_catalog."C",
    size_bytes integer NOT NULL,
    sha256 bytea NOT NULL,
    max_bytes integer,
    bytes bytea NOT NULL,
    staged_at timestamp with time zone DEFAULT now() NOT NULL,
    expired_at timestamp with time zone,
    CONSTRAINT iu_staging_record_document_check CHECK (((length(document) >= 1) AND (length(document) <= 1000))),
    CONSTRAINT iu_staging_record_format_check CHECK ((format = ANY (ARRAY['markdown'::text, 'text'::text]))),
    CONSTRAINT iu_staging_record_run_check CHECK ((run ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text)),
    CONSTRAINT iu_staging_record_state_check CHECK ((state = ANY (ARRAY['staged'::text, 'marked'::text, 'mark_verified'::text, 'cut'::text, 'cut_verified'::text])))
);
ALTER TABLE ONLY penstock.iu_staging_record ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Name: iu_staging_record_staging_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.iu_staging_record ALTER COLUMN staging_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.iu_staging_record_staging_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: job; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job (
    job_id bigint NOT NULL,
    enqueued_at timestamp with time zone NOT NULL,
    execution_id bigint,
    step text,
    playbook_ref text,
    subscription text,
    job_kind text NOT NULL COLLATE pg_catalog."C",
    executor penstock.executor_kind NOT NULL,
    pool text NOT NULL COLLATE pg_catalog."C",
    lane text COLLATE pg_catalog."C",
    event_domain text COLLATE pg_catalog."C",
    priority smallint NOT NULL,
    process_after timestamp with time zone,
    max_attempts smallint,
    idempotency_key text COLLATE pg_catalog."C",
    source_ref text,
    target_ref text,
    payload_ref text,
    safe_payload jsonb,
    correlation_id text,
    causation_event_id uuid,
    causation_depth smallint,
    trace text,
    actor penstock.actor_ref NOT NULL,
    replay_of bigint
)
PARTITION BY RANGE (enqueued_at);

-- Name: job_await; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_await (
    job_id bigint NOT NULL,
    on_due text NOT NULL COLLATE pg_catalog."C",
    key_hash bytea,
    approvers text[],
    prompt text,
    asked_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT job_await_on_due_check CHECK ((on_due = ANY (ARRAY['resume'::text, 'expire'::text])))
);

-- Name: job_dead_letter_dead_letter_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.job_dead_letter ALTER COLUMN dead_letter_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.job_dead_letter_dead_letter_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: job_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE SEQUENCE penstock.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: job_item; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_item (
    job_id bigint NOT NULL,
    item jsonb NOT NULL
);

-- Name: job_join; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_join (
    execution_id bigint NOT NULL,
    step_id bigint NOT NULL,
    remaining smallint NOT NULL,
    via bigint[] DEFAULT '{}'::bigint[] NOT NULL
)
WITH (fillfactor='50');

-- Name: job_loop; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_loop (
    execution_id bigint NOT NULL,
    step_id bigint NOT NULL,
    visit smallint NOT NULL,
    items integer NOT NULL,
    remaining integer NOT NULL,
    failed integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

-- Name: job_move; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_move (
    from_status penstock.job_status,
    move text NOT NULL COLLATE pg_catalog."C",
    to_status penstock.job_status NOT NULL
);

-- Name: job_outcome; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_outcome (
    job_id bigint NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    lease_token bigint NOT NULL,
    enqueued_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    leased_by uuid,
    attempt smallint NOT NULL,
    status penstock.job_status NOT NULL,
    reason text,
    error jsonb
)
PARTITION BY RANGE (finished_at);

-- Name: job_result; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_result (
    job_id bigint NOT NULL,
    result jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: job_step; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_step (
    execution_id bigint NOT NULL,
    step_id bigint NOT NULL,
    visit smallint NOT NULL,
    item integer NOT NULL,
    job_id bigint NOT NULL,
    enqueued_at timestamp with time zone NOT NULL,
    via bigint[],
    decider bigint,
    is_stuck boolean DEFAULT false NOT NULL
);

-- Name: job_subscription; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_subscription (
    subscription_id bigint NOT NULL,
    executor_id text NOT NULL COLLATE pg_catalog."C",
    executor_kind penstock.executor_kind NOT NULL,
    job_kind text COLLATE pg_catalog."C",
    event_domain text COLLATE pg_catalog."C",
    priority_floor smallint DEFAULT '-32768'::integer NOT NULL,
    max_parallel integer,
    enabled boolean DEFAULT false NOT NULL,
    registered_by penstock.actor_ref NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT job_subscription_max_parallel_check CHECK ((max_parallel >= 1))
);

-- Name: job_subscription_subscription_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.job_subscription ALTER COLUMN subscription_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.job_subscription_subscription_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: job_workflow; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_workflow (
    execution_id bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    playbook_ref text NOT NULL,
    subscription text,
    status text DEFAULT 'running'::text NOT NULL COLLATE pg_catalog."C",
    open integer NOT NULL,
    stuck integer DEFAULT 0 NOT NULL,
    priority smallint NOT NULL,
    pool text COLLATE pg_catalog."C",
    source_ref text,
    payload_ref text,
    correlation_id text,
    causation_event_id uuid,
    causation_depth smallint,
    trace text,
    actor penstock.actor_ref NOT NULL,
    idempotency_key text COLLATE pg_catalog."C",
    source bigint,
    parent_job bigint,
    parent_execution bigint,
    depth smallint DEFAULT 0 NOT NULL,
    answer_job bigint,
    lane text COLLATE pg_catalog."C",
    CONSTRAINT job_workflow_check CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])))),
    CONSTRAINT job_workflow_status_check CHECK ((status = ANY (ARRAY['running'::text, 'paused'::text, 'cancelling'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
)
WITH (fillfactor='80');

-- Name: job_workflow_gone; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.job_workflow_gone (
    execution_id bigint NOT NULL
);

-- Name: lane_check; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.lane_check (
    lane_check_id bigint NOT NULL,
    lane text NOT NULL COLLATE pg_catalog."C"
);

-- Name: lane_check_lane_check_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.lane_check ALTER COLUMN lane_check_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.lane_check_lane_check_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: lease_token_seq; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE SEQUENCE penstock.lease_token_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: once_key; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key (
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    ref text NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
PARTITION BY HASH (scope, key);

-- Name: once_key_00; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_00 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_01; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_01 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_02; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_02 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_03; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_03 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_04; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_04 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_05; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_05 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_06; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_06 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_07; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_07 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_08; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_08 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_09; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_09 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_10; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_10 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_11; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_11 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_12; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_12 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_13; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_13 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_14; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_14 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: once_key_15; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.once_key_15 (
    scope text CONSTRAINT once_key_scope_not_null NOT NULL COLLATE pg_catalog."C",
    key text CONSTRAINT once_key_key_not_null NOT NULL COLLATE pg_catalog."C",
    ref text CONSTRAINT once_key_ref_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT once_key_expires_at_not_null NOT NULL
);

-- Name: outbox_base; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.outbox_base (
    is_one boolean DEFAULT true NOT NULL,
    base bigint DEFAULT 0 NOT NULL,
    rebased_at timestamp with time zone,
    rebased_by penstock.actor_ref,
    CONSTRAINT outbox_base_is_one_check CHECK (is_one)
);

-- Name: outbox_tick; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.outbox_tick (
    tick_id bigint NOT NULL,
    ticked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    tx_id xid8 NOT NULL,
    snapshot pg_snapshot NOT NULL,
    head bigint NOT NULL,
    head_tx xid8,
    system_identifier bigint NOT NULL
);

-- Name: outbox_tick_tick_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.outbox_tick ALTER COLUMN tick_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.outbox_tick_tick_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: playbook_arc; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.playbook_arc (
    arc_id bigint NOT NULL,
    from_step bigint NOT NULL,
    to_step bigint NOT NULL,
    ordinal smallint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    is_inside boolean NOT NULL,
    is_join boolean NOT NULL,
    is_conditional boolean NOT NULL,
    max_times integer,
    skips bigint[] NOT NULL,
    skip_counts smallint[] NOT NULL,
    CONSTRAINT playbook_arc_kind_check CHECK ((kind = ANY (ARRAY['next'::text, 'error'::text, 'late'::text])))
);

-- Name: playbook_arc_arc_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.playbook_arc ALTER COLUMN arc_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.playbook_arc_arc_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: playbook_leaving; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.playbook_leaving (
    step_id bigint NOT NULL,
    arc_id bigint NOT NULL
);

-- Name: playbook_step; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.playbook_step (
    step_id bigint NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    step text NOT NULL COLLATE pg_catalog."C",
    ordinal smallint NOT NULL,
    job_kind text NOT NULL COLLATE pg_catalog."C",
    executor penstock.executor_kind NOT NULL,
    pool text COLLATE pg_catalog."C",
    lane text COLLATE pg_catalog."C",
    max_attempts smallint,
    backoff jsonb,
    on_error text NOT NULL COLLATE pg_catalog."C",
    is_start boolean NOT NULL,
    is_single boolean NOT NULL,
    is_choice boolean NOT NULL,
    is_loop boolean NOT NULL,
    max_in_flight integer,
    waits_for smallint NOT NULL,
    cycle smallint,
    plain_next bigint,
    CONSTRAINT playbook_step_on_error_check CHECK ((on_error = ANY (ARRAY['fail'::text, 'continue'::text, 'step'::text])))
);

-- Name: playbook_step_step_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.playbook_step ALTER COLUMN step_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.playbook_step_step_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: pool; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.pool (
    pool text NOT NULL COLLATE pg_catalog."C",
    note text,
    set_by penstock.actor_ref NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT pool_pool_check CHECK ((pool ~ '^[a-z][a-z0-9_-]{0,62}$'::text))
);

-- Name: queue_heartbeat; Type: TABLE; Schema: penstock; Owner: -

CREATE UNLOGGED TABLE penstock.queue_heartbeat (
    executor_id text NOT NULL COLLATE pg_catalog."C",
    incarnation uuid NOT NULL,
    executor_kind penstock.executor_kind NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    beat_at timestamp with time zone DEFAULT now() NOT NULL,
    silent_since timestamp with time zone,
    heard boolean DEFAULT true NOT NULL,
    kinds text[],
    pools text[]
)
WITH (fillfactor='50');

-- Name: queue_tick_part; Type: TABLE; Schema: penstock; Owner: -

CREATE UNLOGGED TABLE penstock.queue_tick_part (
    part text NOT NULL COLLATE pg_catalog."C",
    ran_at timestamp with time zone NOT NULL,
    failed_since timestamp with time zone,
    report jsonb
)
WITH (fillfactor='50');

-- Name: runtime_token_seq; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE SEQUENCE penstock.runtime_token_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: schema_function; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.schema_function (
    signature text NOT NULL
);

-- Name: schema_migration; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.schema_migration (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: schema_release; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.schema_release (
    version text NOT NULL,
    migrated_at timestamp with time zone DEFAULT now() NOT NULL
);

-- Name: schema_view; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.schema_view (
    view_name text NOT NULL,
    checksum text NOT NULL
);

-- Name: sql_event_route_note; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.sql_event_route_note (
    route_code text NOT NULL COLLATE pg_catalog."C",
    noted_at timestamp with time zone DEFAULT now() NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    events bigint NOT NULL,
    sample jsonb,
    detail text,
    CONSTRAINT sql_event_route_note_outcome_check CHECK ((outcome = ANY (ARRAY['dry_run'::text, 'refused'::text])))
);

-- Name: subscription; Type: TABLE; Schema: penstock; Owner: -

CREATE TABLE penstock.subscription (
    path text NOT NULL COLLATE pg_catalog."C",
    subscription_id bigint NOT NULL,
    version integer NOT NULL,
    state text DEFAULT 'REGISTERED'::text NOT NULL COLLATE pg_catalog."C",
    moved_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT subscription_state_check CHECK ((state = ANY (ARRAY['REGISTERED'::text, 'ACTIVE'::text, 'PAUSED'::text, 'DRAINING'::text, 'DEACTIVATED'::text])))
);

-- Name: subscription_subscription_id_seq; Type: SEQUENCE; Schema: penstock; Owner: -

ALTER TABLE penstock.subscription ALTER COLUMN subscription_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME penstock.subscription_subscription_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: v_api_token; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_api_token AS
 SELECT token_id,
    actor,
    scopes,
    paths,
        CASE
            WHEN (revoked_at IS NOT NULL) THEN 'revoked'::text
            WHEN (expires_at <= now()) THEN 'expired'::text
            ELSE 'live'::text
        END AS state,
    note,
    created_by,
    created_at,
    expires_at,
    revoked_by,
    revoked_at
   FROM penstock.api_token t;

-- Name: v_consumer_dispatch_recent; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_consumer_dispatch_recent AS
 SELECT c.consumer_id,
    COALESCE(j.jobs, (0)::bigint) AS dispatched_24h,
    COALESCE(d.dry_run, (0)::bigint) AS dry_run_24h,
    COALESCE(d.duplicates, (0)::bigint) AS duplicates_24h,
    COALESCE(l.dead, (0)::bigint) AS dead_lettered_24h
   FROM (((penstock.consumer_registry c
     LEFT JOIN ( SELECT (b.safe_payload ->> 'consumer_id'::text) AS consumer_id,
            count(*) AS jobs
           FROM penstock.job b
          WHERE ((b.causation_event_id IS NOT NULL) AND (b.enqueued_at > (now() - '24:00:00'::interval)))
          GROUP BY (b.safe_payload ->> 'consumer_id'::text)) j USING (consumer_id))
     LEFT JOIN ( SELECT n.consumer_id,
            count(*) FILTER (WHERE (n.outcome = 'dry_run'::text)) AS dry_run,
            count(*) FILTER (WHERE (n.outcome = 'duplicate'::text)) AS duplicates
           FROM penstock.consumer_dispatch n
          WHERE (n.dispatched_at > (now() - '24:00:00'::interval))
          GROUP BY n.consumer_id) d USING (consumer_id))
     LEFT JOIN ( SELECT x.consumer_id,
            count(*) AS dead
           FROM penstock.consumer_dead_letter x
          WHERE (x.dead_at > (now() - '24:00:00'::interval))
          GROUP BY x.consumer_id) l USING (consumer_id));

-- Name: v_consumer_registry_active; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_consumer_registry_active AS
 SELECT consumer_id,
    event_domain,
    event_type,
    event_stream,
    job_kind,
    executor,
    idempotency_key_template,
    payload_ref_template,
    enabled,
    dry_run,
    fail_closed,
    priority,
    rate_per_s,
    rate_at,
    notes,
    registered_by,
    registered_at,
    reviewed_by,
    reviewed_at,
    live_at
   FROM penstock.consumer_registry c
  WHERE (enabled AND (NOT dry_run));

-- Name: v_dead_letter; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_dead_letter AS
 SELECT ('job-'::text || d.dead_letter_id) AS id,
    'job'::text AS origin,
    d.job_id,
    d.job_kind AS what,
    d.reason,
    d.error,
    d.snapshot,
    d.dead_at,
    d.resolved_at,
    (d.resolved_by)::text AS resolved_by,
    d.resolution,
    d.replay_job_id,
    d.dead_letter_id AS number
   FROM penstock.job_dead_letter d
UNION ALL
 SELECT ('ingest-'::text || d.dead_letter_id) AS id,
    'ingest'::text AS origin,
    NULL::bigint AS job_id,
    d.subscription AS what,
    d.reason,
    d.error,
    jsonb_build_object('subscription', d.subscription, 'message_id', d.message_id, 'part', d.part, 'source_offset', d.source_offset, 'published_at', d.published_at, 'body_bytes', octet_length(d.body), 'playbook', d.playbook, 'pool', d.pool) AS snapshot,
    d.dead_at,
    d.resolved_at,
    (d.resolved_by)::text AS resolved_by,
    d.resolution,
    d.replay_execution_id AS replay_job_id,
    d.dead_letter_id AS number
   FROM penstock.ingest_dead_letter d
UNION ALL
 SELECT ('event-'::text || d.dead_letter_id) AS id,
    'event'::text AS origin,
    NULL::bigint AS job_id,
    d.consumer_id AS what,
    d.reason,
    d.error,
    jsonb_build_object('event_id', (d.event_snapshot -> 'event_id'::text), 'event_domain', (d.event_snapshot -> 'event_domain'::text), 'event_type', (d.event_snapshot -> 'event_type'::text), 'created_at', (d.event_snapshot -> 'created_at'::text)) AS snapshot,
    d.dead_at,
    d.resolved_at,
    (d.resolved_by)::text AS resolved_by,
    d.resolution,
    d.replay_job_id,
    d.dead_letter_id AS number
   FROM penstock.consumer_dead_letter d
UNION ALL
 SELECT ('route-'::text || d.dead_letter_id) AS id,
    'route'::text AS origin,
    a.job_id,
    d.route_code AS what,
    d.reason,
    d.error,
    jsonb_build_object('event_id', (d.event_snapshot -> 'event_id'::text), 'event_domain', (d.event_snapshot -> 'event_domain'::text), 'event_type', (d.event_snapshot -> 'event_type'::text), 'created_at', (d.event_snapshot -> 'created_at'::text)) AS snapshot,
    d.dead_at,
    d.resolved_at,
    (d.resolved_by)::text AS resolved_by,
    d.resolution,
    a.job_id AS replay_job_id,
    d.dead_letter_id AS number
   FROM (penstock.iu_route_dead_letter d
     LEFT JOIN penstock.iu_route_attempt a ON ((a.attempt_id = d.replay_attempt_id)));

-- Name: v_event_cursor; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_event_cursor AS
 SELECT c.cursor_name,
    c.moved_at,
    (t.newest_tick_id > c.tick_id) AS has_more,
    l.is_live,
    (l.is_live AND (t.newest_tick_id > c.tick_id) AND (t.oldest_unread_at < (now() - s.stall)) AND (c.moved_at < (now() - s.stall))) AS is_stalled,
    (l.is_live AND (t.newest_tick_id > c.tick_id) AND (t.oldest_unread_at < (now() - s.lag))) AS is_lagging,
    t.oldest_unread_at
   FROM (((penstock.event_cursor c
     CROSS JOIN ( SELECT (((COALESCE(max(d.value) FILTER (WHERE (d.key = 'queue.cursor.stall_s'::text)), '60'::text))::bigint)::double precision * '00:00:01'::interval) AS stall,
            (((COALESCE(max(d.value) FILTER (WHERE (d.key = 'queue.cursor.lag_s'::text)), '300'::text))::bigint)::double precision * '00:00:01'::interval) AS lag
           FROM penstock.dot_config d
          WHERE (d.key = ANY (ARRAY['queue.cursor.stall_s'::text, 'queue.cursor.lag_s'::text]))) s)
     CROSS JOIN LATERAL ( SELECT ( SELECT max(n.tick_id) AS max
                   FROM penstock.outbox_tick n) AS newest_tick_id,
            ( SELECT n.ticked_at
                   FROM penstock.outbox_tick n
                  WHERE (n.tick_id > c.tick_id)
                  ORDER BY n.tick_id
                 LIMIT 1) AS oldest_unread_at) t)
     CROSS JOIN LATERAL ( SELECT (NOT (EXISTS ( SELECT
                   FROM penstock.dot_config d
                  WHERE ((d.value <> 'true'::text) AND (((d.key = 'queue.consumer_dispatch.enabled'::text) AND (c.cursor_name = 'consumers'::text)) OR ((d.key = ANY (ARRAY['iu_core.routes_enabled'::text, 'iu_core.route_worker_enabled'::text])) AND (c.cursor_name ~~ 'route:%'::text))))))) AS is_live) l)
  WHERE (c.cursor_name <> 'audit'::text);

-- Name: v_job; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_job AS
 SELECT j.job_id,
    COALESCE(j.execution_id, j.job_id) AS execution_id,
    j.step,
    j.playbook_ref,
    j.subscription,
    j.job_kind,
    (j.executor)::text AS executor,
    j.pool,
    j.lane,
    j.event_domain,
    j.priority,
    (q.status)::text AS status,
    q.process_after,
    q.attempt,
    COALESCE(j.max_attempts, ( SELECT (c.value)::smallint AS value
           FROM penstock.dot_config c
          WHERE (c.key = ('queue.retry.max_attempts.'::text || j.job_kind))), ( SELECT (c.value)::smallint AS value
           FROM penstock.dot_config c
          WHERE (c.key = 'queue.retry.max_attempts.default'::text))) AS max_attempts,
    q.lease_until,
    q.leased_by,
    j.source_ref,
    j.target_ref,
    j.payload_ref,
    j.safe_payload,
    j.correlation_id,
    j.causation_event_id,
    j.causation_depth,
    j.trace,
    (j.actor)::text AS actor,
    j.enqueued_at,
    NULL::timestamp with time zone AS finished_at
   FROM (penstock.job_queue q
     JOIN penstock.job j ON (((j.job_id = q.job_id) AND (j.enqueued_at = q.enqueued_at))))
UNION ALL
 SELECT j.job_id,
    COALESCE(j.execution_id, j.job_id) AS execution_id,
    j.step,
    j.playbook_ref,
    j.subscription,
    j.job_kind,
    (j.executor)::text AS executor,
    j.pool,
    j.lane,
    j.event_domain,
    j.priority,
    (o.status)::text AS status,
    j.process_after,
    o.attempt,
    COALESCE(j.max_attempts, ( SELECT (c.value)::smallint AS value
           FROM penstock.dot_config c
          WHERE (c.key = ('queue.retry.max_attempts.'::text || j.job_kind))), ( SELECT (c.value)::smallint AS value
           FROM penstock.dot_config c
          WHERE (c.key = 'queue.retry.max_attempts.default'::text))) AS max_attempts,
    NULL::timestamp with time zone AS lease_until,
    o.leased_by,
    j.source_ref,
    j.target_ref,
    j.payload_ref,
    j.safe_payload,
    j.correlation_id,
    j.causation_event_id,
    j.causation_depth,
    j.trace,
    (j.actor)::text AS actor,
    j.enqueued_at,
    o.finished_at
   FROM (penstock.job_outcome o
     JOIN penstock.job j ON (((j.job_id = o.job_id) AND (j.enqueued_at = o.enqueued_at))))
  WHERE (o.status = ANY (ARRAY['succeeded'::penstock.job_status, 'dead_lettered'::penstock.job_status, 'cancelled'::penstock.job_status]));

-- Name: v_execution; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_execution AS
 SELECT j.job_id AS execution_id,
    j.playbook_ref,
    j.subscription,
    j.status,
    j.pool,
    j.source_ref,
    j.trace,
    j.actor,
    j.attempt,
    j.max_attempts,
    j.enqueued_at AS started_at,
    j.finished_at
   FROM penstock.v_job j
  WHERE ((j.playbook_ref IS NOT NULL) AND (j.step IS NULL))
UNION ALL
 SELECT w.execution_id,
    w.playbook_ref,
    w.subscription,
        CASE
            WHEN ((w.status = 'running'::text) AND (EXISTS ( SELECT
               FROM penstock.job_queue q
              WHERE ((q.execution_id = w.execution_id) AND (q.status = 'awaiting'::penstock.job_status)))) AND (NOT (EXISTS ( SELECT
               FROM penstock.job_queue q
              WHERE ((q.execution_id = w.execution_id) AND (q.status <> 'awaiting'::penstock.job_status)))))) THEN 'awaiting'::text
            ELSE (w.status COLLATE "default")
        END AS status,
    w.pool,
    w.source_ref,
    w.trace,
    (w.actor)::text AS actor,
    NULL::smallint AS attempt,
    NULL::smallint AS max_attempts,
    w.started_at,
    w.finished_at
   FROM penstock.job_workflow w
UNION ALL
 SELECT j.job_id AS execution_id,
    j.playbook_ref,
    j.subscription,
    (e.detail ->> 'status'::text) AS status,
    j.pool,
    j.source_ref,
    j.trace,
    (j.actor)::text AS actor,
    NULL::smallint AS attempt,
    NULL::smallint AS max_attempts,
    j.enqueued_at AS started_at,
    ((e.detail ->> 'finished_at'::text))::timestamp with time zone AS finished_at
   FROM (penstock.execution_event e
     JOIN penstock.job j ON (((j.job_id = e.job_id) AND (j.enqueued_at = ((e.detail ->> 'started_at'::text))::timestamp with time zone))))
  WHERE (e.happening = 'execution_swept'::text);

-- Name: v_execution_event; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_execution_event AS
 SELECT COALESCE(j.execution_id, j.job_id) AS execution_id,
    j.job_id,
    j.enqueued_at AS happened_at,
    'enqueued'::text AS happening,
    (j.actor)::text AS actor,
    NULL::smallint AS attempt,
    jsonb_strip_nulls(jsonb_build_object('kind', j.job_kind, 'replay_of', j.replay_of, 'causation_event_id', j.causation_event_id)) AS detail
   FROM penstock.job j
UNION ALL
 SELECT COALESCE(q.execution_id, q.job_id) AS execution_id,
    q.job_id,
    q.started_at AS happened_at,
    'started'::text AS happening,
    ('agent:'::text || s.executor_id) AS actor,
    q.attempt,
    jsonb_build_object('incarnation', q.leased_by, 'lease_token', q.lease_token) AS detail
   FROM (penstock.job_queue q
     LEFT JOIN penstock.job_subscription s ON ((s.subscription_id = q.rule)))
  WHERE (q.started_at IS NOT NULL)
UNION ALL
 SELECT COALESCE(j.execution_id, o.job_id) AS execution_id,
    o.job_id,
    o.started_at AS happened_at,
    'started'::text AS happening,
    NULL::text AS actor,
    o.attempt,
    jsonb_build_object('incarnation', o.leased_by, 'lease_token', o.lease_token) AS detail
   FROM (penstock.job_outcome o
     LEFT JOIN penstock.job j ON (((j.job_id = o.job_id) AND (j.enqueued_at = o.enqueued_at))))
  WHERE (o.started_at IS NOT NULL)
UNION ALL
 SELECT COALESCE(j.execution_id, o.job_id) AS execution_id,
    o.job_id,
    o.finished_at AS happened_at,
        CASE o.status
            WHEN 'retrying'::penstock.job_status THEN 'failed'::text
            WHEN 'ready'::penstock.job_status THEN o.reason
            ELSE (o.status)::text
        END AS happening,
    NULL::text AS actor,
    o.attempt,
    jsonb_strip_nulls(jsonb_build_object('reason', o.reason, 'error', o.error, 'incarnation', o.leased_by)) AS detail
   FROM (penstock.job_outcome o
     LEFT JOIN penstock.job j ON (((j.job_id = o.job_id) AND (j.enqueued_at = o.enqueued_at))))
UNION ALL
 SELECT w.execution_id,
    w.execution_id AS job_id,
    w.finished_at AS happened_at,
    ('execution_'::text || w.status) AS happening,
    NULL::text AS actor,
    NULL::smallint AS attempt,
    NULL::jsonb AS detail
   FROM penstock.job_workflow w
  WHERE (w.finished_at IS NOT NULL)
UNION ALL
 SELECT m.execution_id,
    m.execution_id AS job_id,
    m.ingested_at AS happened_at,
    'subscription.message.dispatched'::text AS happening,
    'system:ingest'::text AS actor,
    NULL::smallint AS attempt,
    jsonb_build_object('subscription', m.subscription, 'message_id', m.message_id, 'part', m.part, 'source_offset', m.source_offset) AS detail
   FROM penstock.ingest_message m
UNION ALL
 SELECT m.execution_id,
    m.execution_id AS job_id,
    m.ingested_at AS happened_at,
    'subscription.message.directives_applied'::text AS happening,
    'system:ingest'::text AS actor,
    NULL::smallint AS attempt,
    ( SELECT jsonb_object_agg(w.key, ( SELECT COALESCE(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('header', (x.value ->> 'header'::text), 'controls', (x.value ->> 'controls'::text), 'reason', (x.value ->> 'reason'::text)))), '[]'::jsonb) AS "coalesce"
                   FROM json_array_elements(
                        CASE
                            WHEN (json_typeof((m.directives -> w.key)) = 'array'::text) THEN (m.directives -> w.key)
                            ELSE NULL::json
                        END) x(value))) AS jsonb_object_agg
           FROM unnest(ARRAY['applied'::text, 'ignored'::text]) w(key)) AS detail
   FROM penstock.ingest_message m
  WHERE (m.directives IS NOT NULL)
UNION ALL
 SELECT COALESCE(e.execution_id, e.job_id) AS execution_id,
    e.job_id,
    e.happened_at,
    e.happening,
    (e.actor)::text AS actor,
    NULL::smallint AS attempt,
    e.detail
   FROM penstock.execution_event e;

-- Name: v_execution_step; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_execution_step AS
 SELECT t.execution_id,
    s.step,
    s.ordinal,
    t.visit,
    t.item,
    t.job_id,
    j.job_kind,
    j.status,
    j.attempt,
    j.max_attempts,
    j.pool,
    j.executor,
    t.is_stuck,
    ARRAY( SELECT v.step
           FROM penstock.playbook_step v
          WHERE (v.step_id = ANY (t.via))
          ORDER BY v.ordinal) AS via,
    t.enqueued_at,
    j.process_after,
    j.finished_at,
    ( SELECT o.error
           FROM penstock.job_outcome o
          WHERE (o.job_id = COALESCE(t.decider, t.job_id))
          ORDER BY o.finished_at DESC
         LIMIT 1) AS error,
    ( SELECT COALESCE(max(o.started_at), ( SELECT q.started_at
                   FROM penstock.job_queue q
                  WHERE (q.job_id = t.job_id))) AS "coalesce"
           FROM penstock.job_outcome o
          WHERE (o.job_id = t.job_id)) AS started_at,
    (EXISTS ( SELECT
           FROM penstock.execution_event e
          WHERE ((e.job_id = t.job_id) AND (e.happening = 'step_skipped'::text)))) AS is_skipped
   FROM ((penstock.job_step t
     JOIN penstock.playbook_step s ON ((s.step_id = t.step_id)))
     CROSS JOIN LATERAL ( SELECT v.job_id,
            v.execution_id,
            v.step,
            v.playbook_ref,
            v.subscription,
            v.job_kind,
            v.executor,
            v.pool,
            v.lane,
            v.event_domain,
            v.priority,
            v.status,
            v.process_after,
            v.attempt,
            v.max_attempts,
            v.lease_until,
            v.leased_by,
            v.source_ref,
            v.target_ref,
            v.payload_ref,
            v.safe_payload,
            v.correlation_id,
            v.causation_event_id,
            v.causation_depth,
            v.trace,
            v.actor,
            v.enqueued_at,
            v.finished_at
           FROM penstock.v_job v
          WHERE ((v.job_id = t.job_id) AND (v.enqueued_at = t.enqueued_at))
         OFFSET 0) j);

-- Name: v_executor_subscription_health; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_executor_subscription_health AS
SELECT
    NULL::text COLLATE pg_catalog."C" AS executor_id,
    NULL::text COLLATE pg_catalog."C" AS executor_kind,
    NULL::boolean AS registered,
    NULL::bigint AS rules,
    NULL::boolean AS any_enabled,
    NULL::bigint AS living,
    NULL::bigint AS silent,
    NULL::timestamp with time zone AS last_beat_at;

-- Name: v_ingest_position; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_ingest_position AS
 SELECT path,
    part,
    identity,
    next_offset,
    moved_at,
    floor_offset
   FROM penstock.ingest_position p;

-- Name: v_iu_document; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_iu_document AS
 SELECT d.document,
    d.revision,
    d.run,
    d.pieces,
    d.size_bytes,
    encode(d.sha256, 'hex'::text) AS sha256,
    d.cut_at,
    c.revision AS composed_revision,
    encode(c.sha256, 'hex'::text) AS composed_sha256,
    a.revision AS axis_revision,
    a.live,
    a.changed,
    a.deprecated
   FROM ((penstock.iu_document d
     LEFT JOIN penstock.iu_composition c ON ((c.document = d.document)))
     LEFT JOIN penstock.iu_axis a ON ((a.document = d.document)))
  WHERE (d.staging_id IS NOT NULL);

-- Name: v_iu_route_attempt_recent; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_iu_route_attempt_recent AS
 SELECT attempt_id,
    worker_name,
    route_code,
    route_kind,
    event_ref,
    status,
    idempotency_key,
    attempt_no,
    job_id,
    error,
    attempted_at,
    ended_at
   FROM penstock.iu_route_attempt a
  WHERE (attempted_at > (now() - '24:00:00'::interval));

-- Name: v_iu_route_dead_letter_open; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_iu_route_dead_letter_open AS
 SELECT dead_letter_id,
    idempotency_key,
    worker_name,
    route_code,
    event_ref,
    reason,
    error,
    event_snapshot,
    dead_at,
    replay_attempt_id,
    resolved_at,
    resolved_by,
    resolution
   FROM penstock.iu_route_dead_letter d
  WHERE (resolved_at IS NULL);

-- Name: v_iu_route_worker_status; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_iu_route_worker_status AS
 SELECT w.worker_name,
    w.event_domain,
    g.routes_enabled,
    g.worker_enabled,
    w.runs,
    w.events,
    w.last_run_at,
    w.last_run_summary,
    c.tick_id,
    c.moved_at,
    (t.newest_tick_id - c.tick_id) AS ticks_behind
   FROM (((penstock.iu_route_worker_cursor w
     JOIN penstock.event_cursor c ON ((c.cursor_name = ('route:'::text || w.worker_name))))
     CROSS JOIN ( SELECT max(t_1.tick_id) AS newest_tick_id
           FROM penstock.outbox_tick t_1) t)
     CROSS JOIN ( SELECT (COALESCE(max(d.value) FILTER (WHERE (d.key = 'iu_core.routes_enabled'::text)), 'false'::text) = 'true'::text) AS routes_enabled,
            (COALESCE(max(d.value) FILTER (WHERE (d.key = 'iu_core.route_worker_enabled'::text)), 'false'::text) = 'true'::text) AS worker_enabled
           FROM penstock.dot_config d) g);

-- Name: v_job_awaiting; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_job_awaiting AS
 SELECT a.job_id,
    q.execution_id,
    j.step,
    j.playbook_ref,
    a.prompt,
    a.approvers,
    a.asked_at,
    q.process_after AS due_at,
    a.on_due,
    (a.key_hash IS NOT NULL) AS has_key,
    c.execution_id AS child_execution,
    c.playbook_ref AS child_playbook_ref
   FROM (((penstock.job_await a
     JOIN penstock.job_queue q ON (((q.job_id = a.job_id) AND (q.status = 'awaiting'::penstock.job_status))))
     JOIN penstock.job j ON (((j.job_id = q.job_id) AND (j.enqueued_at = q.enqueued_at))))
     LEFT JOIN LATERAL ( SELECT w.execution_id,
            w.playbook_ref
           FROM penstock.job_workflow w
          WHERE (w.parent_job = a.job_id)
          ORDER BY (w.finished_at IS NOT NULL), w.execution_id DESC
         LIMIT 1) c ON (true));

-- Name: v_job_queue_backlog; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_job_queue_backlog AS
 SELECT executor,
    pool,
    job_kind,
    event_domain,
    LEAST(ready, 10000) AS ready,
    (ready > 10000) AS more,
    oldest_enqueued_at,
    (now() - oldest_enqueued_at) AS oldest_age,
    reason
   FROM penstock.backlog() b(executor, pool, job_kind, event_domain, ready, oldest_enqueued_at, reason);

-- Name: v_job_queue_dead_letter_open; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_job_queue_dead_letter_open AS
 SELECT dead_letter_id,
    job_id,
    job_kind,
    reason,
    error,
    dead_at
   FROM penstock.job_dead_letter d
  WHERE (resolved_at IS NULL);

-- Name: v_queue_health; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_queue_health AS
 SELECT 'tick'::text AS part,
        CASE
            WHEN (max(t.ran_at) > (now() - '00:01:00'::interval)) THEN 'ok'::text
            ELSE 'alert'::text
        END AS state,
    NULL::bigint AS value,
    max(t.ran_at) AS since,
    'when the last tick ran'::text AS detail
   FROM penstock.queue_tick_part t
UNION ALL
 SELECT ('tick:'::text || t.part) AS part,
        CASE
            WHEN (t.failed_since IS NULL) THEN 'ok'::text
            ELSE 'alert'::text
        END AS state,
    NULL::bigint AS value,
    t.failed_since AS since,
    COALESCE((t.report ->> 'error'::text), (t.report ->> 'did'::text)) AS detail
   FROM penstock.queue_tick_part t
UNION ALL
 SELECT ('workers:'::text || x.executor_id) AS part,
        CASE
            WHEN (x.silent > 0) THEN 'alert'::text
            WHEN (x.living = 0) THEN 'warn'::text
            ELSE 'ok'::text
        END AS state,
    x.living AS value,
    x.last_beat_at AS since,
    format('%s living, %s silent'::text, x.living, x.silent) AS detail
   FROM penstock.v_executor_subscription_health x
  WHERE (x.registered AND x.any_enabled)
UNION ALL
 SELECT 'leases_overdue'::text AS part,
        CASE
            WHEN (count(*) > 0) THEN 'alert'::text
            ELSE 'ok'::text
        END AS state,
    count(*) AS value,
    min(l.lease_until) AS since,
    'leases that ended over a minute ago and were not taken back'::text AS detail
   FROM ( SELECT q.lease_until
           FROM penstock.job_queue q
          WHERE ((q.status = ANY (ARRAY['leased'::penstock.job_status, 'running'::penstock.job_status])) AND (q.lease_until < (now() - '00:01:00'::interval)))
         LIMIT 1000) l
UNION ALL
 SELECT 'due_overdue'::text AS part,
        CASE
            WHEN (count(*) > 0) THEN 'alert'::text
            ELSE 'ok'::text
        END AS state,
    count(*) AS value,
    min(d.process_after) AS since,
    'scheduled or retrying jobs over a minute late'::text AS detail
   FROM ( SELECT q.process_after
           FROM penstock.job_queue q
          WHERE ((q.status = ANY (ARRAY['scheduled'::penstock.job_status, 'retrying'::penstock.job_status])) AND (q.process_after < (now() - '00:01:00'::interval)))
          ORDER BY q.process_after
         LIMIT 1000) d
UNION ALL
 SELECT 'lanes_unsettled'::text AS part,
        CASE
            WHEN (count(*) > 0) THEN 'warn'::text
            ELSE 'ok'::text
        END AS state,
    count(*) AS value,
    NULL::timestamp with time zone AS since,
    'lanes that wait for a look'::text AS detail
   FROM ( SELECT
           FROM penstock.lane_check
         LIMIT 1000) l
UNION ALL
 SELECT ('unserved:'::text || b.job_kind) AS part,
    'warn'::text AS state,
    b.ready AS value,
    b.oldest_enqueued_at AS since,
    b.reason AS detail
   FROM penstock.v_job_queue_backlog b
  WHERE (b.reason IS NOT NULL)
UNION ALL
 SELECT 'dead_letters'::text AS part,
        CASE
            WHEN (count(*) > 0) THEN 'warn'::text
            ELSE 'ok'::text
        END AS state,
    count(*) AS value,
    min(d.dead_at) AS since,
    'open dead letters, up to 1,000'::text AS detail
   FROM ( SELECT o.dead_at
           FROM penstock.v_job_queue_dead_letter_open o
         LIMIT 1000) d
UNION ALL
 SELECT 'dead_letters:ingest'::text AS part,
        CASE
            WHEN (count(*) > 0) THEN 'warn'::text
            ELSE 'ok'::text
        END AS state,
    count(*) AS value,
    min(d.dead_at) AS since,
    'open dead letters of messages, up to 1,000'::text AS detail
   FROM ( SELECT o.dead_at
           FROM penstock.ingest_dead_letter o
          WHERE (o.resolved_at IS NULL)
         LIMIT 1000) d
UNION ALL
 SELECT 'dead_letters:event'::text AS part,
        CASE
            WHEN (count(*) > 0) THEN 'warn'::text
            ELSE 'ok'::text
        END AS state,
    count(*) AS value,
    min(d.dead_at) AS since,
    'open dead letters of events, up to 1,000'::text AS detail
   FROM ( SELECT o.dead_at
           FROM penstock.consumer_dead_letter o
          WHERE (o.resolved_at IS NULL)
         LIMIT 1000) d
UNION ALL
 SELECT 'dead_letters:route'::text AS part,
        CASE
            WHEN (count(*) > 0) THEN 'warn'::text
            ELSE 'ok'::text
        END AS state,
    count(*) AS value,
    min(d.dead_at) AS since,
    'open dead letters of outbound routes, up to 1,000'::text AS detail
   FROM ( SELECT o.dead_at
           FROM penstock.iu_route_dead_letter o
          WHERE (o.resolved_at IS NULL)
         LIMIT 1000) d
UNION ALL
 SELECT ('cursor:'::text || c.cursor_name) AS part,
        CASE
            WHEN c.is_stalled THEN 'alert'::text
            WHEN c.is_lagging THEN 'warn'::text
            ELSE 'ok'::text
        END AS state,
    NULL::bigint AS value,
        CASE
            WHEN (c.is_lagging AND (NOT c.is_stalled)) THEN c.oldest_unread_at
            ELSE c.moved_at
        END AS since,
        CASE
            WHEN c.is_stalled THEN 'stands still, and there is something to read'::text
            WHEN c.is_lagging THEN 'lags: since when the oldest that it has not read is there'::text
            ELSE 'when it last moved'::text
        END AS detail
   FROM penstock.v_event_cursor c
  WHERE c.is_live
UNION ALL
 SELECT ('subscription:'::text || s.path) AS part,
    'alert'::text AS state,
    r.backlog AS value,
        CASE
            WHEN u.is_unattended THEN u.since
            ELSE r.backlog_since
        END AS since,
        CASE
            WHEN u.is_unattended THEN 'unattended: it is ACTIVE, and no runtime holds it'::text
            ELSE 'stalled: its source has a backlog, and nothing is committed'::text
        END AS detail
   FROM (((penstock.subscription s
     JOIN penstock.subscription_runtime r USING (path))
     JOIN penstock.catalog c ON (((c.path = s.path) AND (c.version = s.version))))
     CROSS JOIN LATERAL ( SELECT GREATEST(r.lease_until, r.released_at, s.moved_at) AS since,
            (COALESCE((r.unattended_at > GREATEST(r.lease_until, r.released_at, s.moved_at)), false) AND (COALESCE((c.content #>> '{spec,activation}'::text[]), 'continuous'::text) = 'continuous'::text)) AS is_unattended) u)
  WHERE ((s.state = 'ACTIVE'::text) AND (r.is_stalled OR u.is_unattended))
UNION ALL
 SELECT ('route:'::text || r.route_code) AS part,
    'alert'::text AS state,
    NULL::bigint AS value,
    NULL::timestamp with time zone AS since,
        CASE penstock.sql_route_state(r.*)
            WHEN 'table_missing'::text THEN 'its table is gone'::text
            WHEN 'renamed'::text THEN 'its table has another name now, and its events have that: define the route again'::text
            WHEN 'not_applied'::text THEN 'its trigger is not there, or off: penstock route enable it again'::text
            ELSE 'broken: a column it names is gone, and null in its events'::text
        END AS detail
   FROM penstock.iu_sql_event_route r
  WHERE (r.enabled AND (penstock.sql_route_state(r.*) = ANY (ARRAY['table_missing'::text, 'renamed'::text, 'not_applied'::text, 'broken'::text])))
UNION ALL
 SELECT ('schedule:'::text || s.schedule_id) AS part,
    'alert'::text AS state,
    NULL::bigint AS value,
    s.last_run_at AS since,
    s.last_error AS detail
   FROM penstock.schedule s
  WHERE (s.enabled AND (s.last_error IS NOT NULL));

-- Name: v_sql_event_route_active; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_sql_event_route_active AS
 SELECT route_code,
    route_id,
    source_object_kind,
    source_schema,
    source_table,
    sql_event,
    target_event_domain,
    target_event_type,
    target_event_stream,
    enabled,
    dry_run,
    fail_closed,
    idempotency_policy,
    payload_contract,
    source_filter,
    notes,
    registered_by,
    registered_at,
    reviewed_by,
    reviewed_at,
    live_at,
    penstock.sql_route_state(r.*) AS state
   FROM penstock.iu_sql_event_route r
  WHERE (enabled AND (NOT dry_run));

-- Name: v_subscription; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_subscription AS
 SELECT s.path,
    s.state,
    s.version,
    (c.content #>> '{spec,source}'::text[]) AS source,
    (c.content #>> '{spec,mode}'::text[]) AS mode,
    COALESCE((c.content #>> '{spec,activation}'::text[]), 'continuous'::text) AS activation,
    s.moved_at,
    r.incarnation,
    r.lease_until,
    COALESCE((r.lease_until > clock_timestamp()), false) AS is_running,
    r.started_at,
    r.backlog,
    r.backlog_at,
    r.is_stalled,
    r.last_commit_at,
    r.received,
    r.executions,
    r.deduplicated,
    r.dead_lettered,
    r.replays,
    r.batches,
        CASE
            WHEN (r.last_commit_at > GREATEST(r.rate_since, (clock_timestamp() - '00:01:00'::interval))) THEN (round((((r.received - r.rate_received))::numeric / GREATEST(EXTRACT(epoch FROM (clock_timestamp() - r.rate_since)), (1)::numeric)), 2))::double precision
            ELSE NULL::double precision
        END AS rate,
    s.subscription_id,
    ( SELECT count(*) AS count
           FROM ( SELECT
                   FROM penstock.ingest_dead_letter d
                  WHERE ((d.subscription = s.path) AND (d.resolved_at IS NULL))
                 LIMIT 10000) o) AS dead_letters_open
   FROM ((penstock.subscription s
     JOIN penstock.subscription_runtime r USING (path))
     JOIN penstock.catalog c ON (((c.path = s.path) AND (c.version = s.version))));

-- Name: v_subscription_broadcast_used; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_subscription_broadcast_used AS
 SELECT event_domain,
    event_type,
    (sum(broadcast))::bigint AS broadcast_events_24h,
    (sum(events))::bigint AS events_24h
   FROM penstock.event_broadcast b
  WHERE (hour > (now() - '25:00:00'::interval))
  GROUP BY event_domain, event_type
 HAVING (sum(broadcast) > (0)::numeric);

-- Name: v_subscription_event; Type: VIEW; Schema: penstock; Owner: -

CREATE VIEW penstock.v_subscription_event AS
 SELECT subscription,
    execution_event_id,
    happened_at,
    happening,
    execution_id,
    (actor)::text AS actor,
    detail
   FROM penstock.execution_event e
  WHERE (subscription IS NOT NULL);

-- Name: wake__outbox; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake__outbox
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_any; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_any
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_birth_registry; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_birth_registry
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_dot; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_dot
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_governance; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_governance
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_health; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_health
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_iu; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_iu
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_iu_sql; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_iu_sql
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_kg; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_kg
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_piece; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_piece
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_staging; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_staging
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_system; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_system
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: wake_tac; Type: SEQUENCE; Schema: penstock; Owner: -

CREATE UNLOGGED SEQUENCE penstock.wake_tac
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: once_key_00; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_00 FOR VALUES WITH (modulus 16, remainder 0);

-- Name: once_key_01; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_01 FOR VALUES WITH (modulus 16, remainder 1);

-- Name: once_key_02; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_02 FOR VALUES WITH (modulus 16, remainder 2);

-- Name: once_key_03; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_03 FOR VALUES WITH (modulus 16, remainder 3);

-- Name: once_key_04; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_04 FOR VALUES WITH (modulus 16, remainder 4);

-- Name: once_key_05; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_05 FOR VALUES WITH (modulus 16, remainder 5);

-- Name: once_key_06; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_06 FOR VALUES WITH (modulus 16, remainder 6);

-- Name: once_key_07; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_07 FOR VALUES WITH (modulus 16, remainder 7);

-- Name: once_key_08; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_08 FOR VALUES WITH (modulus 16, remainder 8);

-- Name: once_key_09; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_09 FOR VALUES WITH (modulus 16, remainder 9);

-- Name: once_key_10; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_10 FOR VALUES WITH (modulus 16, remainder 10);

-- Name: once_key_11; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_11 FOR VALUES WITH (modulus 16, remainder 11);

-- Name: once_key_12; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_12 FOR VALUES WITH (modulus 16, remainder 12);

-- Name: once_key_13; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_13 FOR VALUES WITH (modulus 16, remainder 13);

-- Name: once_key_14; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_14 FOR VALUES WITH (modulus 16, remainder 14);

-- Name: once_key_15; Type: TABLE ATTACH; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key ATTACH PARTITION penstock.once_key_15 FOR VALUES WITH (modulus 16, remainder 15);

-- Name: actor_binding actor_binding_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.actor_binding
    ADD CONSTRAINT actor_binding_pkey PRIMARY KEY (actor_ref, db_role);

-- Name: api_token api_token_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.api_token
    ADD CONSTRAINT api_token_pkey PRIMARY KEY (token_id);

-- Name: callback_secret callback_secret_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.callback_secret
    ADD CONSTRAINT callback_secret_pkey PRIMARY KEY (is_only);

-- Name: catalog catalog_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.catalog
    ADD CONSTRAINT catalog_pkey PRIMARY KEY (path, version);

-- Name: consumer_dead_letter consumer_dead_letter_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.consumer_dead_letter
    ADD CONSTRAINT consumer_dead_letter_pkey PRIMARY KEY (dead_letter_id);

-- Name: consumer_registry consumer_registry_event_domain_event_type_event_stream_cons_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.consumer_registry
    ADD CONSTRAINT consumer_registry_event_domain_event_type_event_stream_cons_key UNIQUE NULLS NOT DISTINCT (event_domain, event_type, event_stream, consumer_id);

-- Name: consumer_registry consumer_registry_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.consumer_registry
    ADD CONSTRAINT consumer_registry_pkey PRIMARY KEY (consumer_id);

-- Name: dot_config dot_config_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.dot_config
    ADD CONSTRAINT dot_config_pkey PRIMARY KEY (key);

-- Name: event_broadcast event_broadcast_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_broadcast
    ADD CONSTRAINT event_broadcast_pkey PRIMARY KEY (hour, event_domain, event_type);

-- Name: event_cursor event_cursor_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_cursor
    ADD CONSTRAINT event_cursor_pkey PRIMARY KEY (cursor_name);

-- Name: event_domain event_domain_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_domain
    ADD CONSTRAINT event_domain_pkey PRIMARY KEY (event_domain);

-- Name: event_outbox event_outbox_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_outbox
    ADD CONSTRAINT event_outbox_pkey PRIMARY KEY (event_id, created_at);

-- Name: event_read event_read_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_read
    ADD CONSTRAINT event_read_pkey PRIMARY KEY (recipient_ref, event_id, read_at);

-- Name: event_subscription event_subscription_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_subscription
    ADD CONSTRAINT event_subscription_pkey PRIMARY KEY (event_subscription_id);

-- Name: event_subscription event_subscription_recipient_ref_event_domain_event_type_ev_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_subscription
    ADD CONSTRAINT event_subscription_recipient_ref_event_domain_event_type_ev_key UNIQUE NULLS NOT DISTINCT (recipient_ref, event_domain, event_type, event_stream, scope_subject_table, scope_filter);

-- Name: event_type_registry event_type_registry_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_type_registry
    ADD CONSTRAINT event_type_registry_pkey PRIMARY KEY (event_domain, event_type);

-- Name: execution_event execution_event_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.execution_event
    ADD CONSTRAINT execution_event_pkey PRIMARY KEY (execution_event_id, happened_at);

-- Name: execution_input execution_input_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.execution_input
    ADD CONSTRAINT execution_input_pkey PRIMARY KEY (execution_id);

-- Name: executor_grant executor_grant_actor_executor_kind_job_kind_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.executor_grant
    ADD CONSTRAINT executor_grant_actor_executor_kind_job_kind_key UNIQUE NULLS NOT DISTINCT (actor, executor_kind, job_kind);

-- Name: executor executor_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.executor
    ADD CONSTRAINT executor_pkey PRIMARY KEY (executor_id);

-- Name: ingest_chunk ingest_chunk_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.ingest_chunk
    ADD CONSTRAINT ingest_chunk_pkey PRIMARY KEY (stage, attempt);

-- Name: ingest_dead_letter ingest_dead_letter_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.ingest_dead_letter
    ADD CONSTRAINT ingest_dead_letter_pkey PRIMARY KEY (dead_letter_id);

-- Name: ingest_message ingest_message_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.ingest_message
    ADD CONSTRAINT ingest_message_pkey PRIMARY KEY (execution_id, ingested_at);

-- Name: ingest_position ingest_position_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.ingest_position
    ADD CONSTRAINT ingest_position_pkey PRIMARY KEY (path, part);

-- Name: ingest_slice ingest_slice_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.ingest_slice
    ADD CONSTRAINT ingest_slice_pkey PRIMARY KEY (stage, attempt, start);

-- Name: iu_axis iu_axis_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_axis
    ADD CONSTRAINT iu_axis_pkey PRIMARY KEY (document);

-- Name: iu_composition iu_composition_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_composition
    ADD CONSTRAINT iu_composition_pkey PRIMARY KEY (document);

-- Name: iu_document iu_document_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_document
    ADD CONSTRAINT iu_document_pkey PRIMARY KEY (document);

-- Name: iu_outbound_route iu_outbound_route_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_outbound_route
    ADD CONSTRAINT iu_outbound_route_pkey PRIMARY KEY (route_code);

-- Name: iu_piece iu_piece_address_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_piece
    ADD CONSTRAINT iu_piece_address_key UNIQUE (address);

-- Name: iu_piece iu_piece_order; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_piece
    ADD CONSTRAINT iu_piece_order UNIQUE (document, "position") DEFERRABLE;

-- Name: iu_piece iu_piece_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_piece
    ADD CONSTRAINT iu_piece_pkey PRIMARY KEY (piece_id);

-- Name: iu_route_attempt iu_route_attempt_idempotency_key_attempt_no_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_route_attempt
    ADD CONSTRAINT iu_route_attempt_idempotency_key_attempt_no_key UNIQUE (idempotency_key, attempt_no);

-- Name: iu_route_attempt iu_route_attempt_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_route_attempt
    ADD CONSTRAINT iu_route_attempt_pkey PRIMARY KEY (attempt_id);

-- Name: iu_route_dead_letter iu_route_dead_letter_idempotency_key_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_route_dead_letter
    ADD CONSTRAINT iu_route_dead_letter_idempotency_key_key UNIQUE (idempotency_key);

-- Name: iu_route_dead_letter iu_route_dead_letter_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_route_dead_letter
    ADD CONSTRAINT iu_route_dead_letter_pkey PRIMARY KEY (dead_letter_id);

-- Name: iu_route_worker_cursor iu_route_worker_cursor_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_route_worker_cursor
    ADD CONSTRAINT iu_route_worker_cursor_pkey PRIMARY KEY (worker_name);

-- Name: iu_sql_event_route iu_sql_event_route_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_sql_event_route
    ADD CONSTRAINT iu_sql_event_route_pkey PRIMARY KEY (route_code);

-- Name: iu_sql_event_route iu_sql_event_route_route_id_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_sql_event_route
    ADD CONSTRAINT iu_sql_event_route_route_id_key UNIQUE (route_id);

-- Name: iu_staging_mark iu_staging_mark_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_staging_mark
    ADD CONSTRAINT iu_staging_mark_pkey PRIMARY KEY (staging_id, "position");

-- Name: iu_staging_record iu_staging_record_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_staging_record
    ADD CONSTRAINT iu_staging_record_pkey PRIMARY KEY (staging_id);

-- Name: iu_staging_record iu_staging_record_run_document_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_staging_record
    ADD CONSTRAINT iu_staging_record_run_document_key UNIQUE (run, document);

-- Name: job_await job_await_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_await
    ADD CONSTRAINT job_await_pkey PRIMARY KEY (job_id);

-- Name: job_dead_letter job_dead_letter_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_dead_letter
    ADD CONSTRAINT job_dead_letter_pkey PRIMARY KEY (dead_letter_id);

-- Name: job_item job_item_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_item
    ADD CONSTRAINT job_item_pkey PRIMARY KEY (job_id);

-- Name: job_join job_join_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_join
    ADD CONSTRAINT job_join_pkey PRIMARY KEY (execution_id, step_id);

-- Name: job_loop job_loop_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_loop
    ADD CONSTRAINT job_loop_pkey PRIMARY KEY (execution_id, step_id, visit);

-- Name: job_move job_move_from_status_move_to_status_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_move
    ADD CONSTRAINT job_move_from_status_move_to_status_key UNIQUE NULLS NOT DISTINCT (from_status, move, to_status);

-- Name: job_outcome job_outcome_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_outcome
    ADD CONSTRAINT job_outcome_pkey PRIMARY KEY (job_id, lease_token, finished_at);

-- Name: job job_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (job_id, enqueued_at);

-- Name: job_queue job_queue_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_queue
    ADD CONSTRAINT job_queue_pkey PRIMARY KEY (job_id);

-- Name: job_result job_result_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_result
    ADD CONSTRAINT job_result_pkey PRIMARY KEY (job_id);

-- Name: job_step job_step_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_step
    ADD CONSTRAINT job_step_pkey PRIMARY KEY (execution_id, step_id, visit, item);

-- Name: job_subscription job_subscription_executor_id_job_kind_event_domain_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_subscription
    ADD CONSTRAINT job_subscription_executor_id_job_kind_event_domain_key UNIQUE NULLS NOT DISTINCT (executor_id, job_kind, event_domain);

-- Name: job_subscription job_subscription_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_subscription
    ADD CONSTRAINT job_subscription_pkey PRIMARY KEY (subscription_id);

-- Name: job_workflow_gone job_workflow_gone_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_workflow_gone
    ADD CONSTRAINT job_workflow_gone_pkey PRIMARY KEY (execution_id);

-- Name: job_workflow job_workflow_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_workflow
    ADD CONSTRAINT job_workflow_pkey PRIMARY KEY (execution_id);

-- Name: lane_check lane_check_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.lane_check
    ADD CONSTRAINT lane_check_pkey PRIMARY KEY (lane_check_id);

-- Name: once_key once_key_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key
    ADD CONSTRAINT once_key_pkey PRIMARY KEY (scope, key);

-- Name: once_key_00 once_key_00_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_00
    ADD CONSTRAINT once_key_00_pkey PRIMARY KEY (scope, key);

-- Name: once_key_01 once_key_01_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_01
    ADD CONSTRAINT once_key_01_pkey PRIMARY KEY (scope, key);

-- Name: once_key_02 once_key_02_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_02
    ADD CONSTRAINT once_key_02_pkey PRIMARY KEY (scope, key);

-- Name: once_key_03 once_key_03_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_03
    ADD CONSTRAINT once_key_03_pkey PRIMARY KEY (scope, key);

-- Name: once_key_04 once_key_04_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_04
    ADD CONSTRAINT once_key_04_pkey PRIMARY KEY (scope, key);

-- Name: once_key_05 once_key_05_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_05
    ADD CONSTRAINT once_key_05_pkey PRIMARY KEY (scope, key);

-- Name: once_key_06 once_key_06_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_06
    ADD CONSTRAINT once_key_06_pkey PRIMARY KEY (scope, key);

-- Name: once_key_07 once_key_07_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_07
    ADD CONSTRAINT once_key_07_pkey PRIMARY KEY (scope, key);

-- Name: once_key_08 once_key_08_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_08
    ADD CONSTRAINT once_key_08_pkey PRIMARY KEY (scope, key);

-- Name: once_key_09 once_key_09_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_09
    ADD CONSTRAINT once_key_09_pkey PRIMARY KEY (scope, key);

-- Name: once_key_10 once_key_10_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_10
    ADD CONSTRAINT once_key_10_pkey PRIMARY KEY (scope, key);

-- Name: once_key_11 once_key_11_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_11
    ADD CONSTRAINT once_key_11_pkey PRIMARY KEY (scope, key);

-- Name: once_key_12 once_key_12_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_12
    ADD CONSTRAINT once_key_12_pkey PRIMARY KEY (scope, key);

-- Name: once_key_13 once_key_13_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_13
    ADD CONSTRAINT once_key_13_pkey PRIMARY KEY (scope, key);

-- Name: once_key_14 once_key_14_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_14
    ADD CONSTRAINT once_key_14_pkey PRIMARY KEY (scope, key);

-- Name: once_key_15 once_key_15_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.once_key_15
    ADD CONSTRAINT once_key_15_pkey PRIMARY KEY (scope, key);

-- Name: outbox_base outbox_base_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.outbox_base
    ADD CONSTRAINT outbox_base_pkey PRIMARY KEY (is_one);

-- Name: outbox_tick outbox_tick_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.outbox_tick
    ADD CONSTRAINT outbox_tick_pkey PRIMARY KEY (tick_id);

-- Name: playbook_arc playbook_arc_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_arc
    ADD CONSTRAINT playbook_arc_pkey PRIMARY KEY (arc_id);

-- Name: playbook_leaving playbook_leaving_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_leaving
    ADD CONSTRAINT playbook_leaving_pkey PRIMARY KEY (step_id, arc_id);

-- Name: playbook_step playbook_step_path_version_step_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_step
    ADD CONSTRAINT playbook_step_path_version_step_key UNIQUE (path, version, step);

-- Name: playbook_step playbook_step_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_step
    ADD CONSTRAINT playbook_step_pkey PRIMARY KEY (step_id);

-- Name: pool pool_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (pool);

-- Name: queue_heartbeat queue_heartbeat_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.queue_heartbeat
    ADD CONSTRAINT queue_heartbeat_pkey PRIMARY KEY (executor_id, incarnation);

-- Name: queue_tick_part queue_tick_part_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.queue_tick_part
    ADD CONSTRAINT queue_tick_part_pkey PRIMARY KEY (part);

-- Name: schedule schedule_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (schedule_id);

-- Name: schema_function schema_function_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.schema_function
    ADD CONSTRAINT schema_function_pkey PRIMARY KEY (signature);

-- Name: schema_migration schema_migration_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.schema_migration
    ADD CONSTRAINT schema_migration_pkey PRIMARY KEY (version);

-- Name: schema_release schema_release_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.schema_release
    ADD CONSTRAINT schema_release_pkey PRIMARY KEY (version);

-- Name: schema_view schema_view_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.schema_view
    ADD CONSTRAINT schema_view_pkey PRIMARY KEY (view_name);

-- Name: subscription subscription_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (path);

-- Name: subscription_runtime subscription_runtime_pkey; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.subscription_runtime
    ADD CONSTRAINT subscription_runtime_pkey PRIMARY KEY (path);

-- Name: subscription subscription_subscription_id_key; Type: CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.subscription
    ADD CONSTRAINT subscription_subscription_id_key UNIQUE (subscription_id);

-- Name: api_token_actor; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX api_token_actor ON penstock.api_token USING btree (actor);

-- Name: consumer_dead_letter_open; Type: INDEX; Schema: penstock; Owner: -

CREATE UNIQUE INDEX consumer_dead_letter_open ON penstock.consumer_dead_letter USING btree (consumer_id, event_id) WHERE (resolved_at IS NULL);

-- Name: consumer_dispatch_age; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX consumer_dispatch_age ON penstock.consumer_dispatch USING brin (dispatched_at);

-- Name: consumer_dispatch_recent; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX consumer_dispatch_recent ON penstock.consumer_dispatch USING btree (consumer_id, dispatched_at);

-- Name: event_outbox_order; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX event_outbox_order ON ONLY penstock.event_outbox USING btree (tx_id, seq);

-- Name: execution_event_job; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX execution_event_job ON ONLY penstock.execution_event USING btree (job_id);

-- Name: execution_event_subscription; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX execution_event_subscription ON ONLY penstock.execution_event USING btree (subscription, execution_event_id) WHERE (subscription IS NOT NULL);

-- Name: ingest_dead_letter_message; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX ingest_dead_letter_message ON penstock.ingest_dead_letter USING btree (subscription, message_id);

-- Name: ingest_dead_letter_open; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX ingest_dead_letter_open ON penstock.ingest_dead_letter USING btree (subscription, dead_letter_id) WHERE (resolved_at IS NULL);

-- Name: ingest_message_id; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX ingest_message_id ON ONLY penstock.ingest_message USING btree (subscription, message_id);

-- Name: iu_document_run; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX iu_document_run ON penstock.iu_document USING btree (run);

-- Name: iu_route_attempt_dry; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX iu_route_attempt_dry ON penstock.iu_route_attempt USING btree (route_code, attempted_at) WHERE (status = 'dry_run'::text);

-- Name: iu_route_attempt_passed; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX iu_route_attempt_passed ON penstock.iu_route_attempt USING btree (attempted_at) WHERE (status = ANY (ARRAY['skipped'::text, 'disabled'::text]));

-- Name: iu_route_attempt_queued; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX iu_route_attempt_queued ON penstock.iu_route_attempt USING btree (job_id) WHERE (status = 'queued'::text);

-- Name: iu_route_attempt_recent; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX iu_route_attempt_recent ON penstock.iu_route_attempt USING btree (attempted_at);

-- Name: iu_route_dead_letter_open; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX iu_route_dead_letter_open ON penstock.iu_route_dead_letter USING btree (dead_letter_id) WHERE (resolved_at IS NULL);

-- Name: iu_staging_record_age; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX iu_staging_record_age ON penstock.iu_staging_record USING btree (staged_at) WHERE (expired_at IS NULL);

-- Name: iu_staging_record_expired; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX iu_staging_record_expired ON penstock.iu_staging_record USING btree (expired_at) WHERE (expired_at IS NOT NULL);

-- Name: ix_event_subscription_lookup; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX ix_event_subscription_lookup ON penstock.event_subscription USING btree (event_domain, event_type, event_stream) WHERE (NOT mute);

-- Name: job_dead_letter_job; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_dead_letter_job ON penstock.job_dead_letter USING btree (job_id);

-- Name: job_dead_letter_open; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_dead_letter_open ON penstock.job_dead_letter USING btree (dead_letter_id) WHERE (resolved_at IS NULL);

-- Name: job_enqueued; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_enqueued ON ONLY penstock.job USING brin (enqueued_at) WITH (pages_per_range='32');

-- Name: job_queue_awaiting; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_awaiting ON penstock.job_queue USING btree (process_after) WHERE ((status = 'awaiting'::penstock.job_status) AND (process_after IS NOT NULL));

-- Name: job_queue_due; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_due ON penstock.job_queue USING btree (process_after) WHERE (status = ANY (ARRAY['scheduled'::penstock.job_status, 'retrying'::penstock.job_status]));

-- Name: job_queue_execution; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_execution ON penstock.job_queue USING btree (execution_id) WHERE (execution_id IS NOT NULL);

-- Name: job_queue_item; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_item ON penstock.job_queue USING btree (execution_id, step_id, visit) WHERE ((item > 0) AND (hold IS DISTINCT FROM 'loop'::text));

-- Name: job_queue_lane_head; Type: INDEX; Schema: penstock; Owner: -

CREATE UNIQUE INDEX job_queue_lane_head ON penstock.job_queue USING btree (lane) WHERE ((lane IS NOT NULL) AND (status = ANY (ARRAY['ready'::penstock.job_status, 'leased'::penstock.job_status, 'running'::penstock.job_status, 'awaiting'::penstock.job_status, 'retrying'::penstock.job_status])));

-- Name: job_queue_lane_scheduled; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_lane_scheduled ON penstock.job_queue USING btree (lane, process_after, job_id) WHERE ((lane IS NOT NULL) AND (status = 'scheduled'::penstock.job_status));

-- Name: job_queue_lane_waiting; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_lane_waiting ON penstock.job_queue USING btree (lane, job_id) WHERE ((lane IS NOT NULL) AND (status = 'blocked'::penstock.job_status) AND (hold IS NULL));

-- Name: job_queue_leased; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_leased ON penstock.job_queue USING btree (rule, leased_by) WHERE (status = ANY (ARRAY['leased'::penstock.job_status, 'running'::penstock.job_status]));

-- Name: job_queue_loop; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_loop ON penstock.job_queue USING btree (execution_id, step_id, visit, item) WHERE (hold = 'loop'::text);

-- Name: job_queue_ready; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_ready ON penstock.job_queue USING btree (executor, pool, job_kind, event_domain, priority DESC, job_id) WHERE (status = 'ready'::penstock.job_status);

-- Name: job_queue_source; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_queue_source ON penstock.job_queue USING btree (source) WHERE (source IS NOT NULL);

-- Name: job_workflow_ended; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_workflow_ended ON penstock.job_workflow USING btree (finished_at) WHERE (finished_at IS NOT NULL);

-- Name: job_workflow_live; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_workflow_live ON penstock.job_workflow USING btree (execution_id) WHERE (finished_at IS NULL);

-- Name: job_workflow_parent; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_workflow_parent ON penstock.job_workflow USING btree (parent_execution) WHERE (parent_execution IS NOT NULL);

-- Name: job_workflow_untold; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_workflow_untold ON penstock.job_workflow USING btree (execution_id) WHERE ((answer_job IS NOT NULL) AND (finished_at IS NOT NULL));

-- Name: job_workflow_waited_for; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX job_workflow_waited_for ON penstock.job_workflow USING btree (parent_job) WHERE (parent_job IS NOT NULL);

-- Name: once_key_00_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_00_expires_at_idx ON penstock.once_key_00 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_01_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_01_expires_at_idx ON penstock.once_key_01 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_02_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_02_expires_at_idx ON penstock.once_key_02 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_03_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_03_expires_at_idx ON penstock.once_key_03 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_04_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_04_expires_at_idx ON penstock.once_key_04 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_05_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_05_expires_at_idx ON penstock.once_key_05 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_06_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_06_expires_at_idx ON penstock.once_key_06 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_07_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_07_expires_at_idx ON penstock.once_key_07 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_08_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_08_expires_at_idx ON penstock.once_key_08 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_09_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_09_expires_at_idx ON penstock.once_key_09 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_10_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_10_expires_at_idx ON penstock.once_key_10 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_11_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_11_expires_at_idx ON penstock.once_key_11 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_12_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_12_expires_at_idx ON penstock.once_key_12 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_13_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_13_expires_at_idx ON penstock.once_key_13 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_14_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_14_expires_at_idx ON penstock.once_key_14 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: once_key_15_expires_at_idx; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX once_key_15_expires_at_idx ON penstock.once_key_15 USING brin (expires_at) WITH (pages_per_range='32', autosummarize='on');

-- Name: playbook_arc_from; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX playbook_arc_from ON penstock.playbook_arc USING btree (from_step);

-- Name: schedule_due; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX schedule_due ON penstock.schedule USING btree (next_run_at) WHERE enabled;

-- Name: sql_event_route_note_recent; Type: INDEX; Schema: penstock; Owner: -

CREATE INDEX sql_event_route_note_recent ON penstock.sql_event_route_note USING btree (route_code, noted_at);

-- Name: once_key_00_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_00_pkey;

-- Name: once_key_01_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_01_pkey;

-- Name: once_key_02_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_02_pkey;

-- Name: once_key_03_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_03_pkey;

-- Name: once_key_04_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_04_pkey;

-- Name: once_key_05_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_05_pkey;

-- Name: once_key_06_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_06_pkey;

-- Name: once_key_07_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_07_pkey;

-- Name: once_key_08_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_08_pkey;

-- Name: once_key_09_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_09_pkey;

-- Name: once_key_10_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_10_pkey;

-- Name: once_key_11_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_11_pkey;

-- Name: once_key_12_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_12_pkey;

-- Name: once_key_13_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_13_pkey;

-- Name: once_key_14_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_14_pkey;

-- Name: once_key_15_pkey; Type: INDEX ATTACH; Schema: penstock; Owner: -

ALTER INDEX penstock.once_key_pkey ATTACH PARTITION penstock.once_key_15_pkey;

-- Name: v_executor_subscription_health _RETURN; Type: RULE; Schema: penstock; Owner: -

CREATE OR REPLACE VIEW penstock.v_executor_subscription_health AS
 SELECT e.executor_id,
    (e.executor_kind)::text AS executor_kind,
    (e.deregistered_at IS NULL) AS registered,
    count(s.subscription_id) AS rules,
    COALESCE(bool_or(s.enabled), false) AS any_enabled,
    ( SELECT count(*) AS count
           FROM penstock.queue_heartbeat h
          WHERE ((h.executor_id = e.executor_id) AND (h.silent_since IS NULL))) AS living,
    ( SELECT count(*) AS count
           FROM penstock.queue_heartbeat h
          WHERE ((h.executor_id = e.executor_id) AND (h.silent_since IS NOT NULL))) AS silent,
    ( SELECT max(h.beat_at) AS max
           FROM penstock.queue_heartbeat h
          WHERE (h.executor_id = e.executor_id)) AS last_beat_at
   FROM (penstock.executor e
     LEFT JOIN penstock.job_subscription s ON ((s.executor_id = e.executor_id)))
  GROUP BY e.executor_id;

-- Name: consumer_registry consumer_registry_event_domain_event_type_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.consumer_registry
    ADD CONSTRAINT consumer_registry_event_domain_event_type_fkey FOREIGN KEY (event_domain, event_type) REFERENCES penstock.event_type_registry(event_domain, event_type);

-- Name: event_subscription event_subscription_event_domain_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_subscription
    ADD CONSTRAINT event_subscription_event_domain_fkey FOREIGN KEY (event_domain) REFERENCES penstock.event_domain(event_domain);

-- Name: event_type_registry event_type_registry_event_domain_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.event_type_registry
    ADD CONSTRAINT event_type_registry_event_domain_fkey FOREIGN KEY (event_domain) REFERENCES penstock.event_domain(event_domain);

-- Name: ingest_position ingest_position_path_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.ingest_position
    ADD CONSTRAINT ingest_position_path_fkey FOREIGN KEY (path) REFERENCES penstock.subscription(path);

-- Name: iu_axis iu_axis_document_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_axis
    ADD CONSTRAINT iu_axis_document_fkey FOREIGN KEY (document) REFERENCES penstock.iu_document(document);

-- Name: iu_composition iu_composition_document_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_composition
    ADD CONSTRAINT iu_composition_document_fkey FOREIGN KEY (document) REFERENCES penstock.iu_document(document);

-- Name: iu_outbound_route iu_outbound_route_event_domain_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_outbound_route
    ADD CONSTRAINT iu_outbound_route_event_domain_fkey FOREIGN KEY (event_domain) REFERENCES penstock.event_domain(event_domain);

-- Name: iu_piece iu_piece_document_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_piece
    ADD CONSTRAINT iu_piece_document_fkey FOREIGN KEY (document) REFERENCES penstock.iu_document(document);

-- Name: iu_route_worker_cursor iu_route_worker_cursor_event_domain_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_route_worker_cursor
    ADD CONSTRAINT iu_route_worker_cursor_event_domain_fkey FOREIGN KEY (event_domain) REFERENCES penstock.event_domain(event_domain);

-- Name: iu_sql_event_route iu_sql_event_route_target_event_domain_target_event_type_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_sql_event_route
    ADD CONSTRAINT iu_sql_event_route_target_event_domain_target_event_type_fkey FOREIGN KEY (target_event_domain, target_event_type) REFERENCES penstock.event_type_registry(event_domain, event_type);

-- Name: iu_staging_mark iu_staging_mark_staging_id_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.iu_staging_mark
    ADD CONSTRAINT iu_staging_mark_staging_id_fkey FOREIGN KEY (staging_id) REFERENCES penstock.iu_staging_record(staging_id) ON DELETE CASCADE;

-- Name: job_subscription job_subscription_event_domain_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_subscription
    ADD CONSTRAINT job_subscription_event_domain_fkey FOREIGN KEY (event_domain) REFERENCES penstock.event_domain(event_domain);

-- Name: job_subscription job_subscription_executor_id_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.job_subscription
    ADD CONSTRAINT job_subscription_executor_id_fkey FOREIGN KEY (executor_id) REFERENCES penstock.executor(executor_id);

-- Name: playbook_arc playbook_arc_from_step_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_arc
    ADD CONSTRAINT playbook_arc_from_step_fkey FOREIGN KEY (from_step) REFERENCES penstock.playbook_step(step_id);

-- Name: playbook_arc playbook_arc_to_step_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_arc
    ADD CONSTRAINT playbook_arc_to_step_fkey FOREIGN KEY (to_step) REFERENCES penstock.playbook_step(step_id);

-- Name: playbook_leaving playbook_leaving_arc_id_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_leaving
    ADD CONSTRAINT playbook_leaving_arc_id_fkey FOREIGN KEY (arc_id) REFERENCES penstock.playbook_arc(arc_id);

-- Name: playbook_leaving playbook_leaving_step_id_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_leaving
    ADD CONSTRAINT playbook_leaving_step_id_fkey FOREIGN KEY (step_id) REFERENCES penstock.playbook_step(step_id);

-- Name: playbook_step playbook_step_path_version_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.playbook_step
    ADD CONSTRAINT playbook_step_path_version_fkey FOREIGN KEY (path, version) REFERENCES penstock.catalog(path, version);

-- Name: subscription subscription_path_version_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.subscription
    ADD CONSTRAINT subscription_path_version_fkey FOREIGN KEY (path, version) REFERENCES penstock.catalog(path, version);

-- Name: subscription_runtime subscription_runtime_path_fkey; Type: FK CONSTRAINT; Schema: penstock; Owner: -

ALTER TABLE ONLY penstock.subscription_runtime
    ADD CONSTRAINT subscription_runtime_path_fkey FOREIGN KEY (path) REFERENCES penstock.subscription(path);

-- Name: SCHEMA penstock; Type: ACL; Schema: -; Owner: -

GRANT USAGE ON SCHEMA penstock TO workflow_admin;
GRANT USAGE ON SCHEMA penstock TO dot_executor;
GRANT USAGE ON SCHEMA penstock TO penstock_producer;
GRANT USAGE ON SCHEMA penstock TO penstock_mot;
GRANT USAGE ON SCHEMA penstock TO penstock_pipeline;
GRANT USAGE ON SCHEMA penstock TO penstock_gateway;
GRANT USAGE ON SCHEMA penstock TO penstock_reader;

-- Name: FUNCTION actor_checked(p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.actor_checked(p_actor text) FROM PUBLIC;

-- Name: FUNCTION actor_is_wellformed(p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.actor_is_wellformed(p_actor text) FROM PUBLIC;

-- Name: FUNCTION answer_by_hand_check(p_job_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.answer_by_hand_check(p_job_id bigint) FROM PUBLIC;

-- Name: FUNCTION arcs_followed(p_ends penstock.step_end[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.arcs_followed(p_ends penstock.step_end[]) FROM PUBLIC;

-- Name: FUNCTION array_text(p_array jsonb, p_of_json boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.array_text(p_array jsonb, p_of_json boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.array_text(p_array jsonb, p_of_json boolean) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.array_text(p_array jsonb, p_of_json boolean) TO dot_executor;
GRANT ALL ON FUNCTION penstock.array_text(p_array jsonb, p_of_json boolean) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.array_text(p_array jsonb, p_of_json boolean) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.array_text(p_array jsonb, p_of_json boolean) TO workflow_admin;

-- Name: FUNCTION attempts_failed(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[], p_reason text, p_rules bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.attempts_failed(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[], p_reason text, p_rules bigint[]) FROM PUBLIC;

-- Name: FUNCTION awaiting_done(p_job_ids bigint[], p_result jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.awaiting_done(p_job_ids bigint[], p_result jsonb) FROM PUBLIC;

-- Name: FUNCTION awaiting_due(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.awaiting_due(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION awaiting_failed(p_job_ids bigint[], p_reason text, p_error jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.awaiting_failed(p_job_ids bigint[], p_reason text, p_error jsonb) FROM PUBLIC;

-- Name: FUNCTION backlog(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.backlog() FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.backlog() TO workflow_admin;
GRANT ALL ON FUNCTION penstock.backlog() TO dot_executor;
GRANT ALL ON FUNCTION penstock.backlog() TO penstock_producer;
GRANT ALL ON FUNCTION penstock.backlog() TO penstock_mot;
GRANT ALL ON FUNCTION penstock.backlog() TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.backlog() TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.backlog() TO penstock_reader;

-- Name: FUNCTION backlog_reason(p_executor text, p_pool text, p_job_kind text, p_event_domain text, p_priority smallint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.backlog_reason(p_executor text, p_pool text, p_job_kind text, p_event_domain text, p_priority smallint) FROM PUBLIC;

-- Name: FUNCTION bodies_are_json(p_stage text, p_attempts text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.bodies_are_json(p_stage text, p_attempts text[]) FROM PUBLIC;

-- Name: FUNCTION broadcasts_count(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.broadcasts_count(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION broadcasts_warn(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.broadcasts_warn() FROM PUBLIC;

-- Name: FUNCTION bytes_are_json(p_body bytea); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.bytes_are_json(p_body bytea) FROM PUBLIC;

-- Name: FUNCTION caller(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.caller() FROM PUBLIC;

-- Name: FUNCTION caller_is_operator(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.caller_is_operator() FROM PUBLIC;

-- Name: FUNCTION caller_rules(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.caller_rules() FROM PUBLIC;

-- Name: FUNCTION cancelled_settle(p_job_ids bigint[], p_tokens bigint[], p_rules bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cancelled_settle(p_job_ids bigint[], p_tokens bigint[], p_rules bigint[]) FROM PUBLIC;

-- Name: FUNCTION catalog_playbooks(p_kind text, p_content jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.catalog_playbooks(p_kind text, p_content jsonb) FROM PUBLIC;

-- Name: FUNCTION catalog_pools(p_kind text, p_content jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.catalog_pools(p_kind text, p_content jsonb) FROM PUBLIC;

-- Name: FUNCTION catalog_refs_check(p_kind text, p_content jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.catalog_refs_check(p_kind text, p_content jsonb) FROM PUBLIC;

-- Name: FUNCTION causation_depth(p_event_id uuid); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.causation_depth(p_event_id uuid) FROM PUBLIC;

-- Name: FUNCTION claim_has_below(p_executor_kind text, p_runs penstock.claim_run[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_has_below(p_executor_kind text, p_runs penstock.claim_run[]) FROM PUBLIC;

-- Name: FUNCTION claim_lock(p_executor_kind text, p_runs penstock.claim_run[], p_limit integer, p_suspects boolean, OUT jobs bigint[], OUT runs integer[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_lock(p_executor_kind text, p_runs penstock.claim_run[], p_limit integer, p_suspects boolean, OUT jobs bigint[], OUT runs integer[]) FROM PUBLIC;

-- Name: FUNCTION claim_mark(p_jobs bigint[], p_token bigint, p_rule bigint, p_lease_ms bigint, p_max_attempts bigint, p_incarnation uuid, p_start boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_mark(p_jobs bigint[], p_token bigint, p_rule bigint, p_lease_ms bigint, p_max_attempts bigint, p_incarnation uuid, p_start boolean) FROM PUBLIC;

-- Name: TABLE executor; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.executor TO workflow_admin;
GRANT SELECT ON TABLE penstock.executor TO dot_executor;
GRANT SELECT ON TABLE penstock.executor TO penstock_reader;

-- Name: FUNCTION claim_pass(p_executor penstock.executor, p_limit integer, p_kinds text[], p_pools text[], p_incarnation uuid, p_start boolean, p_suspects boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_pass(p_executor penstock.executor, p_limit integer, p_kinds text[], p_pools text[], p_incarnation uuid, p_start boolean, p_suspects boolean) FROM PUBLIC;

-- Name: FUNCTION claim_query(p_executor_kind text, p_runs penstock.claim_run[], p_limit integer, p_suspects boolean, p_below boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_query(p_executor_kind text, p_runs penstock.claim_run[], p_limit integer, p_suspects boolean, p_below boolean) FROM PUBLIC;

-- Name: FUNCTION claim_rooms(p_runs penstock.claim_run[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_rooms(p_runs penstock.claim_run[]) FROM PUBLIC;

-- Name: FUNCTION claim_rooms_left(p_runs penstock.claim_run[], p_picks integer[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_rooms_left(p_runs penstock.claim_run[], p_picks integer[]) FROM PUBLIC;

-- Name: FUNCTION claim_run_mark(p_executor_kind text, p_run penstock.claim_run, p_top integer, p_floor integer, p_from bigint, p_limit integer, p_lease_ms bigint, p_max_attempts bigint, p_incarnation uuid, p_start boolean, p_suspects boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_run_mark(p_executor_kind text, p_run penstock.claim_run, p_top integer, p_floor integer, p_from bigint, p_limit integer, p_lease_ms bigint, p_max_attempts bigint, p_incarnation uuid, p_start boolean, p_suspects boolean) FROM PUBLIC;

-- Name: FUNCTION claim_run_take(p_executor_kind text, p_run penstock.claim_run, p_limit integer, p_incarnation uuid, p_start boolean, p_suspects boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_run_take(p_executor_kind text, p_run penstock.claim_run, p_limit integer, p_incarnation uuid, p_start boolean, p_suspects boolean) FROM PUBLIC;

-- Name: FUNCTION claim_runs(p_executor penstock.executor, p_kinds text[], p_pools text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_runs(p_executor penstock.executor, p_kinds text[], p_pools text[]) FROM PUBLIC;

-- Name: FUNCTION claim_take(p_executor penstock.executor, p_runs penstock.claim_run[], p_limit integer, p_incarnation uuid, p_start boolean, p_suspects boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.claim_take(p_executor penstock.executor, p_runs penstock.claim_run[], p_limit integer, p_incarnation uuid, p_start boolean, p_suspects boolean) FROM PUBLIC;

-- Name: FUNCTION config_accepts(p_key text, OUT pattern text, OUT words text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.config_accepts(p_key text, OUT pattern text, OUT words text) FROM PUBLIC;

-- Name: FUNCTION config_for_kind(p_prefix text, p_kind text, p_default bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.config_for_kind(p_prefix text, p_kind text, p_default bigint) FROM PUBLIC;

-- Name: FUNCTION config_text(p_key text, p_default text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.config_text(p_key text, p_default text) FROM PUBLIC;

-- Name: FUNCTION consumer_check(p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_priority integer, p_rate_per_s numeric); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.consumer_check(p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_priority integer, p_rate_per_s numeric) FROM PUBLIC;

-- Name: FUNCTION consumer_dead_letter_locked(p_dead_letter_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.consumer_dead_letter_locked(p_dead_letter_id bigint) FROM PUBLIC;

-- Name: TABLE event_outbox; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.event_outbox TO workflow_admin;
GRANT SELECT ON TABLE penstock.event_outbox TO dot_executor;
GRANT SELECT ON TABLE penstock.event_outbox TO penstock_reader;

-- Name: FUNCTION consumer_dispatch_one(p_event penstock.event_outbox, p_consumer text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.consumer_dispatch_one(p_event penstock.event_outbox, p_consumer text) FROM PUBLIC;

-- Name: FUNCTION consumer_plans(p_events penstock.event_outbox[], p_consumer text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.consumer_plans(p_events penstock.event_outbox[], p_consumer text) FROM PUBLIC;

-- Name: FUNCTION consumer_replay(p_dead_letter_id bigint, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.consumer_replay(p_dead_letter_id bigint, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION consumers_dispatch(p_events penstock.event_outbox[], p_consumer text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.consumers_dispatch(p_events penstock.event_outbox[], p_consumer text) FROM PUBLIC;

-- Name: FUNCTION consumers_dispatch_apart(p_events penstock.event_outbox[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.consumers_dispatch_apart(p_events penstock.event_outbox[]) FROM PUBLIC;

-- Name: FUNCTION consumers_unlocked(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.consumers_unlocked(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION counts_added(p_a jsonb, p_b jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.counts_added(p_a jsonb, p_b jsonb) FROM PUBLIC;

-- Name: FUNCTION cron_field(p_field text, p_low integer, p_high integer, p_names text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cron_field(p_field text, p_low integer, p_high integer, p_names text[]) FROM PUBLIC;

-- Name: FUNCTION cron_local_next(p_from timestamp without time zone, p_until timestamp without time zone, p_minutes integer[], p_hours integer[], p_days integer[], p_months integer[], p_weekdays integer[], p_either_day boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cron_local_next(p_from timestamp without time zone, p_until timestamp without time zone, p_minutes integer[], p_hours integer[], p_days integer[], p_months integer[], p_weekdays integer[], p_either_day boolean) FROM PUBLIC;

-- Name: FUNCTION cron_next(p_cron text, p_after timestamp with time zone, p_timezone text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cron_next(p_cron text, p_after timestamp with time zone, p_timezone text) FROM PUBLIC;

-- Name: TABLE event_cursor; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.event_cursor TO workflow_admin;
GRANT SELECT ON TABLE penstock.event_cursor TO dot_executor;
GRANT SELECT ON TABLE penstock.event_cursor TO penstock_reader;

-- Name: FUNCTION cursor_moved(p_cursor penstock.event_cursor, p_events penstock.event_outbox[], p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cursor_moved(p_cursor penstock.event_cursor, p_events penstock.event_outbox[], p_limit integer) FROM PUBLIC;

-- Name: FUNCTION cursor_page(p_cursor penstock.event_cursor, p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cursor_page(p_cursor penstock.event_cursor, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION cursor_taken(p_cursor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cursor_taken(p_cursor text) FROM PUBLIC;

-- Name: FUNCTION cursors_watch(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cursors_watch() FROM PUBLIC;

-- Name: FUNCTION cut_apply(p_diff penstock.piece_diff[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cut_apply(p_diff penstock.piece_diff[]) FROM PUBLIC;

-- Name: FUNCTION cut_diff(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cut_diff(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[]) FROM PUBLIC;

-- Name: FUNCTION cut_locked(p_staging_ids bigint[], OUT held bigint[], OUT newest bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cut_locked(p_staging_ids bigint[], OUT held bigint[], OUT newest bigint[]) FROM PUBLIC;

-- Name: FUNCTION cut_tell(p_diff penstock.piece_diff[], p_actor penstock.actor_ref, p_correlation_id text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.cut_tell(p_diff penstock.piece_diff[], p_actor penstock.actor_ref, p_correlation_id text) FROM PUBLIC;

-- Name: FUNCTION dead_letter_check(p_id text, p_is_there boolean, p_resolution text, p_resolved_by text, p_resolved_at timestamp with time zone); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.dead_letter_check(p_id text, p_is_there boolean, p_resolution text, p_resolved_by text, p_resolved_at timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION dead_letter_locked(p_dead_letter_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.dead_letter_locked(p_dead_letter_id bigint) FROM PUBLIC;

-- Name: FUNCTION dead_letter_number(p_id text, p_origin text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.dead_letter_number(p_id text, p_origin text) FROM PUBLIC;

-- Name: FUNCTION drain_jobs(p_kind text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.drain_jobs(p_kind text) FROM PUBLIC;

-- Name: FUNCTION drains_cancel(p_kind text, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.drains_cancel(p_kind text, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION error_bounded(p_error jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.error_bounded(p_error jsonb) FROM PUBLIC;

-- Name: FUNCTION error_is_passing(p_sqlstate text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.error_is_passing(p_sqlstate text) FROM PUBLIC;

-- Name: FUNCTION event_contract_check(p_event_domain text, p_event_type text, p_payload jsonb, p_what text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_contract_check(p_event_domain text, p_event_type text, p_payload jsonb, p_what text) FROM PUBLIC;

-- Name: FUNCTION event_insert(p_event_id uuid, p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor penstock.actor_ref, p_correlation_id text, p_causation_event_id uuid, p_trace text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_insert(p_event_id uuid, p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor penstock.actor_ref, p_correlation_id text, p_causation_event_id uuid, p_trace text) FROM PUBLIC;

-- Name: FUNCTION event_page(p_from pg_snapshot, p_to pg_snapshot, p_tx xid8, p_seq bigint, p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_page(p_from pg_snapshot, p_to pg_snapshot, p_tx xid8, p_seq bigint, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION event_recipients(p_event penstock.event_outbox); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_recipients(p_event penstock.event_outbox) FROM PUBLIC;

-- Name: FUNCTION event_rules(p_event penstock.event_outbox); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_rules(p_event penstock.event_outbox) FROM PUBLIC;

-- Name: FUNCTION event_stream_moved(p_event_domain text, p_event_type text, p_event_stream text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_stream_moved(p_event_domain text, p_event_type text, p_event_stream text) FROM PUBLIC;

-- Name: FUNCTION event_told(p_event penstock.event_outbox); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_told(p_event penstock.event_outbox) FROM PUBLIC;

-- Name: FUNCTION event_type_checked(p_event_domain text, p_event_type text, p_event_stream text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_type_checked(p_event_domain text, p_event_type text, p_event_stream text) FROM PUBLIC;

-- Name: FUNCTION event_types_for(p_recipient_ref penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.event_types_for(p_recipient_ref penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION events_audit(p_age interval, p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.events_audit(p_age interval, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION events_insert(p_event_domain text, p_event_type text, p_subject_table text, p_refs text[], p_payloads jsonb[], p_actor penstock.actor_ref, p_correlation_id text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.events_insert(p_event_domain text, p_event_type text, p_subject_table text, p_refs text[], p_payloads jsonb[], p_actor penstock.actor_ref, p_correlation_id text) FROM PUBLIC;

-- Name: FUNCTION events_sweep(p_limit integer, p_ticks integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.events_sweep(p_limit integer, p_ticks integer) FROM PUBLIC;

-- Name: FUNCTION execution_cancelled(p_execution_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.execution_cancelled(p_execution_id bigint) FROM PUBLIC;

-- Name: FUNCTION execution_input_check(p_input jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.execution_input_check(p_input jsonb) FROM PUBLIC;

-- Name: FUNCTION execution_jobs_locked(p_execution_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.execution_jobs_locked(p_execution_id bigint) FROM PUBLIC;

-- Name: FUNCTION execution_paused(p_execution_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.execution_paused(p_execution_id bigint) FROM PUBLIC;

-- Name: FUNCTION execution_requests_check(p_requests jsonb, p_targets penstock.playbook_target[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.execution_requests_check(p_requests jsonb, p_targets penstock.playbook_target[]) FROM PUBLIC;

-- Name: FUNCTION execution_resumed(p_execution_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.execution_resumed(p_execution_id bigint) FROM PUBLIC;

-- Name: FUNCTION execution_retried(p_execution_id bigint, p_job_id bigint, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.execution_retried(p_execution_id bigint, p_job_id bigint, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION execution_rows(p_requests jsonb, p_targets penstock.playbook_target[], p_parent penstock.execution_parent); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.execution_rows(p_requests jsonb, p_targets penstock.playbook_target[], p_parent penstock.execution_parent) FROM PUBLIC;

-- Name: FUNCTION executions_start(p_requests jsonb, p_parent penstock.execution_parent); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.executions_start(p_requests jsonb, p_parent penstock.execution_parent) FROM PUBLIC;

-- Name: FUNCTION executions_write(p_rows penstock.job_request[], p_targets penstock.playbook_target[], p_requests jsonb, p_parent penstock.execution_parent); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.executions_write(p_rows penstock.job_request[], p_targets penstock.playbook_target[], p_requests jsonb, p_parent penstock.execution_parent) FROM PUBLIC;

-- Name: FUNCTION executor_checked(p_executor_id text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.executor_checked(p_executor_id text) FROM PUBLIC;

-- Name: FUNCTION executor_kind_check(p_executor_kind text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.executor_kind_check(p_executor_kind text) FROM PUBLIC;

-- Name: FUNCTION failures_handled(p_ends penstock.step_end[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.failures_handled(p_ends penstock.step_end[]) FROM PUBLIC;

-- Name: FUNCTION family_moved(p_family bigint[], p_action text, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.family_moved(p_family bigint[], p_action text, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION fn_actor_binding_set(p_actor_ref text, p_db_role text, p_bound boolean, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_actor_binding_set(p_actor_ref text, p_db_role text, p_bound boolean, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_actor_binding_set(p_actor_ref text, p_db_role text, p_bound boolean, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_catalog_register(p_path text, p_kind text, p_content jsonb, p_source text, p_actor text, p_graph jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_catalog_register(p_path text, p_kind text, p_content jsonb, p_source text, p_actor text, p_graph jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_catalog_register(p_path text, p_kind text, p_content jsonb, p_source text, p_actor text, p_graph jsonb) TO workflow_admin;

-- Name: FUNCTION fn_config_set(p_key text, p_value text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_config_set(p_key text, p_value text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_config_set(p_key text, p_value text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_consumer_dispatch(p_event_id uuid); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_consumer_dispatch(p_event_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_consumer_dispatch(p_event_id uuid) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_consumer_dispatch(p_event_id uuid) TO workflow_admin;

-- Name: FUNCTION fn_consumer_dispatch_run(p_cursor text, p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_consumer_dispatch_run(p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_consumer_dispatch_run(p_cursor text, p_limit integer) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_consumer_dispatch_run(p_cursor text, p_limit integer) TO workflow_admin;

-- Name: FUNCTION fn_consumer_register(p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_job_kind text, p_executor text, p_idempotency_key_template text, p_payload_ref_template text, p_priority integer, p_registered_by text, p_rate_per_s numeric, p_fail_closed boolean, p_notes text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_consumer_register(p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_job_kind text, p_executor text, p_idempotency_key_template text, p_payload_ref_template text, p_priority integer, p_registered_by text, p_rate_per_s numeric, p_fail_closed boolean, p_notes text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_consumer_register(p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_job_kind text, p_executor text, p_idempotency_key_template text, p_payload_ref_template text, p_priority integer, p_registered_by text, p_rate_per_s numeric, p_fail_closed boolean, p_notes text) TO workflow_admin;

-- Name: FUNCTION fn_consumer_set(p_consumer_id text, p_enabled boolean, p_dry_run boolean, p_reviewed_by text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_consumer_set(p_consumer_id text, p_enabled boolean, p_dry_run boolean, p_reviewed_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_consumer_set(p_consumer_id text, p_enabled boolean, p_dry_run boolean, p_reviewed_by text) TO workflow_admin;

-- Name: FUNCTION fn_cut_verified(p_staging_ids bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_cut_verified(p_staging_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_cut_verified(p_staging_ids bigint[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_cut_verified(p_staging_ids bigint[]) TO workflow_admin;

-- Name: FUNCTION fn_cut_write(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[], p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_cut_write(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[], p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_cut_write(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[], p_actor text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_cut_write(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[], p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_dead_letter_replay(p_id text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_dead_letter_replay(p_id text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_dead_letter_replay(p_id text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_dead_letter_resolve(p_id text, p_actor text, p_reason text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_dead_letter_resolve(p_id text, p_actor text, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_dead_letter_resolve(p_id text, p_actor text, p_reason text) TO workflow_admin;

-- Name: FUNCTION fn_drain_done(p_place text, p_messages text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_drain_done(p_place text, p_messages text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_drain_done(p_place text, p_messages text[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_drain_done(p_place text, p_messages text[]) TO workflow_admin;

-- Name: FUNCTION fn_drain_take(p_job_id bigint, p_token bigint, p_place text, p_messages text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_drain_take(p_job_id bigint, p_token bigint, p_place text, p_messages text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_drain_take(p_job_id bigint, p_token bigint, p_place text, p_messages text[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_drain_take(p_job_id bigint, p_token bigint, p_place text, p_messages text[]) TO workflow_admin;

-- Name: FUNCTION fn_event_domain_register(p_event_domain text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_event_domain_register(p_event_domain text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_event_domain_register(p_event_domain text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_event_inbox(p_recipient_ref text, p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer) TO workflow_admin;
GRANT ALL ON FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer) TO penstock_mot;
GRANT ALL ON FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_event_inbox(p_recipient_ref text, p_limit integer) TO penstock_reader;

-- Name: FUNCTION fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) TO workflow_admin;
GRANT ALL ON FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) TO penstock_mot;
GRANT ALL ON FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) TO penstock_reader;

-- Name: FUNCTION fn_event_recipients(p_event_id uuid); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_event_recipients(p_event_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_event_recipients(p_event_id uuid) TO workflow_admin;
GRANT ALL ON FUNCTION penstock.fn_event_recipients(p_event_id uuid) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_event_recipients(p_event_id uuid) TO penstock_reader;

-- Name: FUNCTION fn_event_subscription_set(p_recipient_ref text, p_event_domain text, p_event_type text, p_event_stream text, p_mute boolean, p_actor text, p_scope_subject_table text, p_scope_filter jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_event_subscription_set(p_recipient_ref text, p_event_domain text, p_event_type text, p_event_stream text, p_mute boolean, p_actor text, p_scope_subject_table text, p_scope_filter jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_event_subscription_set(p_recipient_ref text, p_event_domain text, p_event_type text, p_event_stream text, p_mute boolean, p_actor text, p_scope_subject_table text, p_scope_filter jsonb) TO workflow_admin;

-- Name: FUNCTION fn_event_type_register(p_event_domain text, p_event_type text, p_event_stream text, p_actor text, p_payload_contract jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_event_type_register(p_event_domain text, p_event_type text, p_event_stream text, p_actor text, p_payload_contract jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_event_type_register(p_event_domain text, p_event_type text, p_event_stream text, p_actor text, p_payload_contract jsonb) TO workflow_admin;

-- Name: FUNCTION fn_execute_batch(p_requests jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_execute_batch(p_requests jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_execute_batch(p_requests jsonb) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_execute_batch(p_requests jsonb) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_execute_batch(p_requests jsonb) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_execute_batch(p_requests jsonb) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_execute_batch(p_requests jsonb) TO workflow_admin;

-- Name: FUNCTION fn_execution_move(p_execution_id bigint, p_action text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_executor_deregister(p_executor_id text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_executor_deregister(p_executor_id text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_executor_deregister(p_executor_id text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_executor_grant_set(p_actor text, p_executor_kind text, p_job_kind text, p_granted boolean, p_granted_by text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_executor_grant_set(p_actor text, p_executor_kind text, p_job_kind text, p_granted boolean, p_granted_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_executor_grant_set(p_actor text, p_executor_kind text, p_job_kind text, p_granted boolean, p_granted_by text) TO workflow_admin;

-- Name: FUNCTION fn_executor_register(p_executor_id text, p_executor_kind text, p_registered_by text, p_db_role text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_executor_register(p_executor_id text, p_executor_kind text, p_registered_by text, p_db_role text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_executor_register(p_executor_id text, p_executor_kind text, p_registered_by text, p_db_role text) TO workflow_admin;

-- Name: FUNCTION fn_ingest_commit(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_expected jsonb, p_lane integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_ingest_commit(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_expected jsonb, p_lane integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_ingest_commit(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_expected jsonb, p_lane integer) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_ingest_commit(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_expected jsonb, p_lane integer) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_ingest_commit(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_expected jsonb, p_lane integer) TO workflow_admin;

-- Name: FUNCTION fn_ingest_position_set(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_reason text, p_detail jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_ingest_position_set(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_reason text, p_detail jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_ingest_position_set(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_reason text, p_detail jsonb) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_ingest_position_set(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_reason text, p_detail jsonb) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_ingest_position_set(p_subscription text, p_runtime_token bigint, p_positions jsonb, p_reason text, p_detail jsonb) TO workflow_admin;

-- Name: FUNCTION fn_ingest_room(p_subscription text, p_runtime_token bigint, p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_ingest_room(p_subscription text, p_runtime_token bigint, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_ingest_room(p_subscription text, p_runtime_token bigint, p_limit integer) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_ingest_room(p_subscription text, p_runtime_token bigint, p_limit integer) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_ingest_room(p_subscription text, p_runtime_token bigint, p_limit integer) TO workflow_admin;

-- Name: FUNCTION fn_ingest_stage_acks(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempts text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_ingest_stage_acks(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempts text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_acks(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempts text[]) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_acks(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempts text[]) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_acks(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempts text[]) TO workflow_admin;

-- Name: FUNCTION fn_ingest_stage_add(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_messages json); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_ingest_stage_add(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_messages json) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_add(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_messages json) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_add(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_messages json) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_add(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_messages json) TO workflow_admin;

-- Name: FUNCTION fn_ingest_stage_clear(p_subscription text, p_runtime_token bigint, p_lane integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_ingest_stage_clear(p_subscription text, p_runtime_token bigint, p_lane integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_clear(p_subscription text, p_runtime_token bigint, p_lane integer) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_clear(p_subscription text, p_runtime_token bigint, p_lane integer) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_clear(p_subscription text, p_runtime_token bigint, p_lane integer) TO workflow_admin;

-- Name: FUNCTION fn_ingest_stage_open(p_subscription text, p_runtime_token bigint, p_lane integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_ingest_stage_open(p_subscription text, p_runtime_token bigint, p_lane integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_open(p_subscription text, p_runtime_token bigint, p_lane integer) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_open(p_subscription text, p_runtime_token bigint, p_lane integer) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_open(p_subscription text, p_runtime_token bigint, p_lane integer) TO workflow_admin;

-- Name: FUNCTION fn_ingest_stage_slice(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_start bigint, p_slice text, p_whole bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_ingest_stage_slice(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_start bigint, p_slice text, p_whole bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_slice(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_start bigint, p_slice text, p_whole bigint) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_slice(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_start bigint, p_slice text, p_whole bigint) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_ingest_stage_slice(p_subscription text, p_runtime_token bigint, p_lane integer, p_attempt text, p_start bigint, p_slice text, p_whole bigint) TO workflow_admin;

-- Name: FUNCTION fn_iu_core_routes_enabled(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_iu_core_routes_enabled() FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_iu_core_routes_enabled() TO workflow_admin;
GRANT ALL ON FUNCTION penstock.fn_iu_core_routes_enabled() TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_iu_core_routes_enabled() TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_iu_core_routes_enabled() TO penstock_mot;
GRANT ALL ON FUNCTION penstock.fn_iu_core_routes_enabled() TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_iu_core_routes_enabled() TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_iu_core_routes_enabled() TO penstock_reader;

-- Name: FUNCTION fn_iu_emit_event(p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor text, p_correlation_id text, p_causation_event_id uuid, p_idempotency_key text, p_trace text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_iu_emit_event(p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor text, p_correlation_id text, p_causation_event_id uuid, p_idempotency_key text, p_trace text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_iu_emit_event(p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor text, p_correlation_id text, p_causation_event_id uuid, p_idempotency_key text, p_trace text) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_iu_emit_event(p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor text, p_correlation_id text, p_causation_event_id uuid, p_idempotency_key text, p_trace text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_iu_emit_event(p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor text, p_correlation_id text, p_causation_event_id uuid, p_idempotency_key text, p_trace text) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_iu_emit_event(p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor text, p_correlation_id text, p_causation_event_id uuid, p_idempotency_key text, p_trace text) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_iu_emit_event(p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_actor text, p_correlation_id text, p_causation_event_id uuid, p_idempotency_key text, p_trace text) TO workflow_admin;

-- Name: FUNCTION fn_iu_route_dead_letter_replay(p_id bigint, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_iu_route_dead_letter_replay(p_id bigint, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_iu_route_dead_letter_replay(p_id bigint, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_iu_route_deliver(p_attempt_id bigint, p_lease_token bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_iu_route_deliver(p_attempt_id bigint, p_lease_token bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_iu_route_deliver(p_attempt_id bigint, p_lease_token bigint) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_iu_route_deliver(p_attempt_id bigint, p_lease_token bigint) TO workflow_admin;

-- Name: FUNCTION fn_iu_route_sent(p_attempt_id bigint, p_lease_token bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_iu_route_sent(p_attempt_id bigint, p_lease_token bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_iu_route_sent(p_attempt_id bigint, p_lease_token bigint) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_iu_route_sent(p_attempt_id bigint, p_lease_token bigint) TO workflow_admin;

-- Name: FUNCTION fn_iu_route_worker_enabled(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_iu_route_worker_enabled() FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_enabled() TO workflow_admin;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_enabled() TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_enabled() TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_enabled() TO penstock_mot;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_enabled() TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_enabled() TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_enabled() TO penstock_reader;

-- Name: FUNCTION fn_iu_route_worker_run(p_worker_name text, p_batch_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_iu_route_worker_run(p_worker_name text, p_batch_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_run(p_worker_name text, p_batch_limit integer) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_run(p_worker_name text, p_batch_limit integer) TO workflow_admin;

-- Name: FUNCTION fn_iu_route_worker_set(p_worker_name text, p_event_domain text, p_reset boolean, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_iu_route_worker_set(p_worker_name text, p_event_domain text, p_reset boolean, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_iu_route_worker_set(p_worker_name text, p_event_domain text, p_reset boolean, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_job_await(p_job_id bigint, p_token bigint, p_until timestamp with time zone, p_on_due text, p_callback_key text, p_approvers text[], p_prompt text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_await(p_job_id bigint, p_token bigint, p_until timestamp with time zone, p_on_due text, p_callback_key text, p_approvers text[], p_prompt text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_await(p_job_id bigint, p_token bigint, p_until timestamp with time zone, p_on_due text, p_callback_key text, p_approvers text[], p_prompt text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_await(p_job_id bigint, p_token bigint, p_until timestamp with time zone, p_on_due text, p_callback_key text, p_approvers text[], p_prompt text) TO workflow_admin;

-- Name: FUNCTION fn_job_callback_key(p_job_id bigint, p_token bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_callback_key(p_job_id bigint, p_token bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_callback_key(p_job_id bigint, p_token bigint) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_callback_key(p_job_id bigint, p_token bigint) TO workflow_admin;

-- Name: FUNCTION fn_job_cancel(p_job_id bigint, p_actor text, p_reason text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_cancel(p_job_id bigint, p_actor text, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_cancel(p_job_id bigint, p_actor text, p_reason text) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_job_cancel(p_job_id bigint, p_actor text, p_reason text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_cancel(p_job_id bigint, p_actor text, p_reason text) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_job_cancel(p_job_id bigint, p_actor text, p_reason text) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_job_cancel(p_job_id bigint, p_actor text, p_reason text) TO workflow_admin;

-- Name: FUNCTION fn_job_child(p_job_id bigint, p_token bigint, p_request jsonb, p_wait boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_child(p_job_id bigint, p_token bigint, p_request jsonb, p_wait boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_child(p_job_id bigint, p_token bigint, p_request jsonb, p_wait boolean) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_child(p_job_id bigint, p_token bigint, p_request jsonb, p_wait boolean) TO workflow_admin;

-- Name: FUNCTION fn_job_child_ended(p_execution_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_child_ended(p_execution_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_child_ended(p_execution_id bigint) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_child_ended(p_execution_id bigint) TO workflow_admin;

-- Name: FUNCTION fn_job_claim(p_executor_id text, p_limit integer, p_kinds text[], p_pools text[], p_incarnation uuid, p_start boolean, p_suspects boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_claim(p_executor_id text, p_limit integer, p_kinds text[], p_pools text[], p_incarnation uuid, p_start boolean, p_suspects boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_claim(p_executor_id text, p_limit integer, p_kinds text[], p_pools text[], p_incarnation uuid, p_start boolean, p_suspects boolean) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_claim(p_executor_id text, p_limit integer, p_kinds text[], p_pools text[], p_incarnation uuid, p_start boolean, p_suspects boolean) TO workflow_admin;

-- Name: FUNCTION fn_job_dead_letter_replay(p_dead_letter_id bigint, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_dead_letter_replay(p_dead_letter_id bigint, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_dead_letter_replay(p_dead_letter_id bigint, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_pool text, p_lane text, p_event_domain text, p_trace text, p_max_attempts integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_pool text, p_lane text, p_event_domain text, p_trace text, p_max_attempts integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_pool text, p_lane text, p_event_domain text, p_trace text, p_max_attempts integer) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_pool text, p_lane text, p_event_domain text, p_trace text, p_max_attempts integer) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_pool text, p_lane text, p_event_domain text, p_trace text, p_max_attempts integer) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_pool text, p_lane text, p_event_domain text, p_trace text, p_max_attempts integer) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_pool text, p_lane text, p_event_domain text, p_trace text, p_max_attempts integer) TO workflow_admin;

-- Name: FUNCTION fn_job_enqueue_many(p_jobs jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_enqueue_many(p_jobs jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue_many(p_jobs jsonb) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue_many(p_jobs jsonb) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue_many(p_jobs jsonb) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue_many(p_jobs jsonb) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_job_enqueue_many(p_jobs jsonb) TO workflow_admin;

-- Name: FUNCTION fn_job_fail(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_fail(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_fail(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_fail(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[]) TO workflow_admin;

-- Name: FUNCTION fn_job_finish(p_job_ids bigint[], p_tokens bigint[], p_results jsonb[], p_next jsonb[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_finish(p_job_ids bigint[], p_tokens bigint[], p_results jsonb[], p_next jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_finish(p_job_ids bigint[], p_tokens bigint[], p_results jsonb[], p_next jsonb[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_finish(p_job_ids bigint[], p_tokens bigint[], p_results jsonb[], p_next jsonb[]) TO workflow_admin;

-- Name: FUNCTION fn_job_heartbeat(p_executor_id text, p_incarnation uuid, p_job_ids bigint[], p_tokens bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_heartbeat(p_executor_id text, p_incarnation uuid, p_job_ids bigint[], p_tokens bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_heartbeat(p_executor_id text, p_incarnation uuid, p_job_ids bigint[], p_tokens bigint[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_heartbeat(p_executor_id text, p_incarnation uuid, p_job_ids bigint[], p_tokens bigint[]) TO workflow_admin;

-- Name: FUNCTION fn_job_kept(p_job_ids bigint[], p_tokens bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_kept(p_job_ids bigint[], p_tokens bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_kept(p_job_ids bigint[], p_tokens bigint[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_kept(p_job_ids bigint[], p_tokens bigint[]) TO workflow_admin;

-- Name: FUNCTION fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer) TO workflow_admin;
GRANT ALL ON FUNCTION penstock.fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer) TO penstock_mot;
GRANT ALL ON FUNCTION penstock.fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_job_list(p_status text, p_kind text, p_pool text, p_before bigint, p_limit integer) TO penstock_reader;

-- Name: FUNCTION fn_job_release(p_job_ids bigint[], p_tokens bigint[], p_delays_ms integer[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_release(p_job_ids bigint[], p_tokens bigint[], p_delays_ms integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_release(p_job_ids bigint[], p_tokens bigint[], p_delays_ms integer[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_release(p_job_ids bigint[], p_tokens bigint[], p_delays_ms integer[]) TO workflow_admin;

-- Name: FUNCTION fn_job_resume(p_job_id bigint, p_callback_key text, p_result jsonb, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_resume(p_job_id bigint, p_callback_key text, p_result jsonb, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_resume(p_job_id bigint, p_callback_key text, p_result jsonb, p_actor text) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_job_resume(p_job_id bigint, p_callback_key text, p_result jsonb, p_actor text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_resume(p_job_id bigint, p_callback_key text, p_result jsonb, p_actor text) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_job_resume(p_job_id bigint, p_callback_key text, p_result jsonb, p_actor text) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_job_resume(p_job_id bigint, p_callback_key text, p_result jsonb, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_job_retry(p_job_id bigint, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_retry(p_job_id bigint, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_retry(p_job_id bigint, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_job_start(p_job_ids bigint[], p_tokens bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_start(p_job_ids bigint[], p_tokens bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_start(p_job_ids bigint[], p_tokens bigint[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_job_start(p_job_ids bigint[], p_tokens bigint[]) TO workflow_admin;

-- Name: FUNCTION fn_job_subscription_set(p_executor_id text, p_executor_kind text, p_job_kind text, p_event_domain text, p_priority_floor integer, p_max_parallel integer, p_enabled boolean, p_registered_by text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_job_subscription_set(p_executor_id text, p_executor_kind text, p_job_kind text, p_event_domain text, p_priority_floor integer, p_max_parallel integer, p_enabled boolean, p_registered_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_job_subscription_set(p_executor_id text, p_executor_kind text, p_job_kind text, p_event_domain text, p_priority_floor integer, p_max_parallel integer, p_enabled boolean, p_registered_by text) TO workflow_admin;

-- Name: FUNCTION fn_mark_verified(p_staging_ids bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_mark_verified(p_staging_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_mark_verified(p_staging_ids bigint[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_mark_verified(p_staging_ids bigint[]) TO workflow_admin;

-- Name: FUNCTION fn_mark_write(p_staging_ids bigint[], p_max_bytes integer, p_of bigint[], p_positions integer[], p_firsts integer[], p_ends integer[], p_addresses text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_mark_write(p_staging_ids bigint[], p_max_bytes integer, p_of bigint[], p_positions integer[], p_firsts integer[], p_ends integer[], p_addresses text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_mark_write(p_staging_ids bigint[], p_max_bytes integer, p_of bigint[], p_positions integer[], p_firsts integer[], p_ends integer[], p_addresses text[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_mark_write(p_staging_ids bigint[], p_max_bytes integer, p_of bigint[], p_positions integer[], p_firsts integer[], p_ends integer[], p_addresses text[]) TO workflow_admin;

-- Name: FUNCTION fn_mot_graph_emit(p_playbook text, p_params jsonb, p_actor text, p_idempotency_key text, p_pool text, p_trace text, p_correlation_id text, p_priority integer, p_process_after timestamp with time zone); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_mot_graph_emit(p_playbook text, p_params jsonb, p_actor text, p_idempotency_key text, p_pool text, p_trace text, p_correlation_id text, p_priority integer, p_process_after timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_mot_graph_emit(p_playbook text, p_params jsonb, p_actor text, p_idempotency_key text, p_pool text, p_trace text, p_correlation_id text, p_priority integer, p_process_after timestamp with time zone) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_mot_graph_emit(p_playbook text, p_params jsonb, p_actor text, p_idempotency_key text, p_pool text, p_trace text, p_correlation_id text, p_priority integer, p_process_after timestamp with time zone) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_mot_graph_emit(p_playbook text, p_params jsonb, p_actor text, p_idempotency_key text, p_pool text, p_trace text, p_correlation_id text, p_priority integer, p_process_after timestamp with time zone) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_mot_graph_emit(p_playbook text, p_params jsonb, p_actor text, p_idempotency_key text, p_pool text, p_trace text, p_correlation_id text, p_priority integer, p_process_after timestamp with time zone) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_mot_graph_emit(p_playbook text, p_params jsonb, p_actor text, p_idempotency_key text, p_pool text, p_trace text, p_correlation_id text, p_priority integer, p_process_after timestamp with time zone) TO workflow_admin;
GRANT ALL ON FUNCTION penstock.fn_mot_graph_emit(p_playbook text, p_params jsonb, p_actor text, p_idempotency_key text, p_pool text, p_trace text, p_correlation_id text, p_priority integer, p_process_after timestamp with time zone) TO penstock_mot;

-- Name: FUNCTION fn_outbound_route_set(p_route_code text, p_definition jsonb, p_enabled boolean, p_dry_run boolean, p_reviewed_by text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_outbound_route_set(p_route_code text, p_definition jsonb, p_enabled boolean, p_dry_run boolean, p_reviewed_by text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_outbound_route_set(p_route_code text, p_definition jsonb, p_enabled boolean, p_dry_run boolean, p_reviewed_by text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_outbox_rebase(p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_outbox_rebase(p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_outbox_rebase(p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_outbox_tick(p_force boolean, p_within interval); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_outbox_tick(p_force boolean, p_within interval) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_outbox_tick(p_force boolean, p_within interval) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_outbox_tick(p_force boolean, p_within interval) TO workflow_admin;

-- Name: FUNCTION fn_piece_axis_refresh(p_address text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_piece_axis_refresh(p_address text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_piece_axis_refresh(p_address text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_piece_axis_refresh(p_address text) TO workflow_admin;

-- Name: FUNCTION fn_piece_recompose(p_address text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_piece_recompose(p_address text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_piece_recompose(p_address text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_piece_recompose(p_address text) TO workflow_admin;

-- Name: FUNCTION fn_pool_set(p_pool text, p_note text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_pool_set(p_pool text, p_note text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_pool_set(p_pool text, p_note text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_queue_farewell(p_executor_id text, p_incarnation uuid); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_queue_farewell(p_executor_id text, p_incarnation uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_queue_farewell(p_executor_id text, p_incarnation uuid) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_queue_farewell(p_executor_id text, p_incarnation uuid) TO workflow_admin;

-- Name: FUNCTION fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_incarnation uuid, p_kinds text[], p_pools text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_incarnation uuid, p_kinds text[], p_pools text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_incarnation uuid, p_kinds text[], p_pools text[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_incarnation uuid, p_kinds text[], p_pools text[]) TO workflow_admin;

-- Name: FUNCTION fn_queue_reap_stale_leases(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_queue_reap_stale_leases(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_queue_reap_stale_leases(p_limit integer) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_queue_reap_stale_leases(p_limit integer) TO workflow_admin;

-- Name: FUNCTION fn_queue_tick(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_queue_tick() FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_queue_tick() TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_queue_tick() TO workflow_admin;

-- Name: FUNCTION fn_runtime_lease(p_subscription text, p_incarnation uuid, p_token bigint, p_backlog bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_runtime_lease(p_subscription text, p_incarnation uuid, p_token bigint, p_backlog bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_runtime_lease(p_subscription text, p_incarnation uuid, p_token bigint, p_backlog bigint) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_runtime_lease(p_subscription text, p_incarnation uuid, p_token bigint, p_backlog bigint) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_runtime_lease(p_subscription text, p_incarnation uuid, p_token bigint, p_backlog bigint) TO workflow_admin;

-- Name: FUNCTION fn_runtime_once(p_subscription text, p_runtime_token bigint, p_request uuid, p_call text, p_asked jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_runtime_once(p_subscription text, p_runtime_token bigint, p_request uuid, p_call text, p_asked jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_runtime_once(p_subscription text, p_runtime_token bigint, p_request uuid, p_call text, p_asked jsonb) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_runtime_once(p_subscription text, p_runtime_token bigint, p_request uuid, p_call text, p_asked jsonb) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_runtime_once(p_subscription text, p_runtime_token bigint, p_request uuid, p_call text, p_asked jsonb) TO workflow_admin;

-- Name: FUNCTION fn_runtime_release(p_subscription text, p_token bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_runtime_release(p_subscription text, p_token bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_runtime_release(p_subscription text, p_token bigint) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_runtime_release(p_subscription text, p_token bigint) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_runtime_release(p_subscription text, p_token bigint) TO workflow_admin;

-- Name: FUNCTION fn_runtime_said(p_subscription text, p_token bigint, p_happening text, p_detail jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_runtime_said(p_subscription text, p_token bigint, p_happening text, p_detail jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_runtime_said(p_subscription text, p_token bigint, p_happening text, p_detail jsonb) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_runtime_said(p_subscription text, p_token bigint, p_happening text, p_detail jsonb) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_runtime_said(p_subscription text, p_token bigint, p_happening text, p_detail jsonb) TO workflow_admin;

-- Name: FUNCTION fn_schedule_drop(p_schedule_id text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_schedule_drop(p_schedule_id text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_schedule_drop(p_schedule_id text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_schedule_set(p_schedule_id text, p_job jsonb, p_cron text, p_every interval, p_timezone text, p_enabled boolean, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_schedule_set(p_schedule_id text, p_job jsonb, p_cron text, p_every interval, p_timezone text, p_enabled boolean, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_schedule_set(p_schedule_id text, p_job jsonb, p_cron text, p_every interval, p_timezone text, p_enabled boolean, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_sql_event_call(p_route_code text, p_args jsonb, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_sql_event_call(p_route_code text, p_args jsonb, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_sql_event_call(p_route_code text, p_args jsonb, p_actor text) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.fn_sql_event_call(p_route_code text, p_args jsonb, p_actor text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_sql_event_call(p_route_code text, p_args jsonb, p_actor text) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.fn_sql_event_call(p_route_code text, p_args jsonb, p_actor text) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_sql_event_call(p_route_code text, p_args jsonb, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_sql_event_route_apply(p_route_code text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_sql_event_route_apply(p_route_code text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_sql_event_route_apply(p_route_code text) TO workflow_admin;

-- Name: FUNCTION fn_sql_event_route_set(p_route_code text, p_definition jsonb, p_enabled boolean, p_dry_run boolean, p_reviewed_by text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_sql_event_route_set(p_route_code text, p_definition jsonb, p_enabled boolean, p_dry_run boolean, p_reviewed_by text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_sql_event_route_set(p_route_code text, p_definition jsonb, p_enabled boolean, p_dry_run boolean, p_reviewed_by text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_staging_cleanup(p_staging_ids bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_staging_cleanup(p_staging_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_staging_cleanup(p_staging_ids bigint[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_staging_cleanup(p_staging_ids bigint[]) TO workflow_admin;

-- Name: FUNCTION fn_staging_expire(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_staging_expire(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_staging_expire(p_limit integer) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_staging_expire(p_limit integer) TO workflow_admin;

-- Name: FUNCTION fn_staging_sweep(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_staging_sweep(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_staging_sweep(p_limit integer) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_staging_sweep(p_limit integer) TO workflow_admin;

-- Name: FUNCTION fn_staging_write(p_run text, p_documents text[], p_formats text[], p_bytes bytea[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_staging_write(p_run text, p_documents text[], p_formats text[], p_bytes bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_staging_write(p_run text, p_documents text[], p_formats text[], p_bytes bytea[]) TO dot_executor;
GRANT ALL ON FUNCTION penstock.fn_staging_write(p_run text, p_documents text[], p_formats text[], p_bytes bytea[]) TO workflow_admin;

-- Name: FUNCTION fn_subscription_move(p_path text, p_action text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_subscription_move(p_path text, p_action text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_subscription_move(p_path text, p_action text, p_actor text) TO workflow_admin;

-- Name: FUNCTION fn_token_check(p_token_id text, p_secret_sha256 bytea); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_token_check(p_token_id text, p_secret_sha256 bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_token_check(p_token_id text, p_secret_sha256 bytea) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.fn_token_check(p_token_id text, p_secret_sha256 bytea) TO workflow_admin;

-- Name: FUNCTION fn_token_create(p_token_id text, p_secret_sha256 bytea, p_actor text, p_scopes text[], p_expires_at timestamp with time zone, p_note text, p_created_by text, p_paths text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_token_create(p_token_id text, p_secret_sha256 bytea, p_actor text, p_scopes text[], p_expires_at timestamp with time zone, p_note text, p_created_by text, p_paths text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_token_create(p_token_id text, p_secret_sha256 bytea, p_actor text, p_scopes text[], p_expires_at timestamp with time zone, p_note text, p_created_by text, p_paths text[]) TO workflow_admin;

-- Name: FUNCTION fn_token_revoke(p_token_id text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.fn_token_revoke(p_token_id text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.fn_token_revoke(p_token_id text, p_actor text) TO workflow_admin;

-- Name: FUNCTION forbidden_key_pattern(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.forbidden_key_pattern() FROM PUBLIC;

-- Name: FUNCTION happened(p_job_id bigint, p_happening text, p_actor penstock.actor_ref, p_detail jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.happened(p_job_id bigint, p_happening text, p_actor penstock.actor_ref, p_detail jsonb) FROM PUBLIC;

-- Name: FUNCTION heartbeat_write(p_executor penstock.executor, p_incarnation uuid, p_kinds text[], p_pools text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.heartbeat_write(p_executor penstock.executor, p_incarnation uuid, p_kinds text[], p_pools text[]) FROM PUBLIC;

-- Name: FUNCTION history_begins(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.history_begins() FROM PUBLIC;

-- Name: FUNCTION history_sweep(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.history_sweep(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION ingest_dead(p_subscription text, p_stage text, p_verdicts penstock.ingest_verdict[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_dead(p_subscription text, p_stage text, p_verdicts penstock.ingest_verdict[]) FROM PUBLIC;

-- Name: TABLE ingest_dead_letter; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.ingest_dead_letter TO dot_executor;
GRANT SELECT ON TABLE penstock.ingest_dead_letter TO workflow_admin;

-- Name: FUNCTION ingest_dead_letter_locked(p_dead_letter_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_dead_letter_locked(p_dead_letter_id bigint) FROM PUBLIC;

-- Name: FUNCTION ingest_dedup_until(p_content jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_dedup_until(p_content jsonb) FROM PUBLIC;

-- Name: FUNCTION ingest_deduplicated(p_subscription text, p_stage text, p_verdicts penstock.ingest_verdict[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_deduplicated(p_subscription text, p_stage text, p_verdicts penstock.ingest_verdict[]) FROM PUBLIC;

-- Name: FUNCTION ingest_duplicates(p_subscription text, p_stage text, p_attempts text[], p_positions jsonb, p_until timestamp with time zone, p_known penstock.ingest_verdict[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_duplicates(p_subscription text, p_stage text, p_attempts text[], p_positions jsonb, p_until timestamp with time zone, p_known penstock.ingest_verdict[]) FROM PUBLIC;

-- Name: FUNCTION ingest_execute(p_subscription text, p_version integer, p_stage text, p_attempts text[], p_content jsonb, p_verdicts penstock.ingest_verdict[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_execute(p_subscription text, p_version integer, p_stage text, p_attempts text[], p_content jsonb, p_verdicts penstock.ingest_verdict[]) FROM PUBLIC;

-- Name: FUNCTION ingest_expected_check(p_stage text, p_expected jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_expected_check(p_stage text, p_expected jsonb) FROM PUBLIC;

-- Name: FUNCTION ingest_fault(p_fault text, p_playbook text, p_pool text, p_body bytea, p_allowed text[], p_known text[], p_pools text[], p_is_json boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_fault(p_fault text, p_playbook text, p_pool text, p_body bytea, p_allowed text[], p_known text[], p_pools text[], p_is_json boolean) FROM PUBLIC;

-- Name: FUNCTION ingest_faults(p_stage text, p_attempts text[], p_content jsonb, p_known penstock.ingest_verdict[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_faults(p_stage text, p_attempts text[], p_content jsonb, p_known penstock.ingest_verdict[]) FROM PUBLIC;

-- Name: FUNCTION ingest_judge(p_subscription text, p_stage text, p_attempts text[], p_content jsonb, p_positions jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_judge(p_subscription text, p_stage text, p_attempts text[], p_content jsonb, p_positions jsonb) FROM PUBLIC;

-- Name: FUNCTION ingest_move(p_subscription text, p_positions jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_move(p_subscription text, p_positions jsonb) FROM PUBLIC;

-- Name: FUNCTION ingest_replay(p_dead_letter_id bigint, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_replay(p_dead_letter_id bigint, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION ingest_replay_first(p_letter penstock.ingest_dead_letter, p_content jsonb, p_job_id bigint, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_replay_first(p_letter penstock.ingest_dead_letter, p_content jsonb, p_job_id bigint, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION ingest_replay_start(p_letter penstock.ingest_dead_letter, p_target penstock.playbook_target, p_execution bigint, p_pool text, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_replay_start(p_letter penstock.ingest_dead_letter, p_target penstock.playbook_target, p_execution bigint, p_pool text, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION ingest_replays(p_subscription text, p_stage text, p_attempts text[], p_positions jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.ingest_replays(p_subscription text, p_stage text, p_attempts text[], p_positions jsonb) FROM PUBLIC;

-- Name: FUNCTION inputs_forget(p_before timestamp with time zone, p_after bigint, p_limit integer, OUT gone integer, OUT after bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.inputs_forget(p_before timestamp with time zone, p_after bigint, p_limit integer, OUT gone integer, OUT after bigint) FROM PUBLIC;

-- Name: FUNCTION job_answers(p_job_ids bigint[], p_tokens bigint[], p_done bigint[], p_rules bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_answers(p_job_ids bigint[], p_tokens bigint[], p_done bigint[], p_rules bigint[]) FROM PUBLIC;

-- Name: FUNCTION job_array_check(p_jobs jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_array_check(p_jobs jsonb) FROM PUBLIC;

-- Name: FUNCTION job_insert(p_rows penstock.job_request[], p_checked boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_insert(p_rows penstock.job_request[], p_checked boolean) FROM PUBLIC;

-- Name: FUNCTION job_locked(p_job_id bigint, p_move text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_locked(p_job_id bigint, p_move text) FROM PUBLIC;

-- Name: FUNCTION job_pairs_check(p_job_ids bigint[], p_tokens bigint[], p_more jsonb[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_pairs_check(p_job_ids bigint[], p_tokens bigint[], p_more jsonb[]) FROM PUBLIC;

-- Name: FUNCTION job_refusal(p_job_id bigint, p_token bigint, p_rules bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_refusal(p_job_id bigint, p_token bigint, p_rules bigint[]) FROM PUBLIC;

-- Name: FUNCTION job_request_check(p_rows penstock.job_request[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_request_check(p_rows penstock.job_request[]) FROM PUBLIC;

-- Name: FUNCTION job_request_fault(p_row penstock.job_request, p_max_bytes bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_request_fault(p_row penstock.job_request, p_max_bytes bigint) FROM PUBLIC;

-- Name: FUNCTION job_request_once(p_rows penstock.job_request[], p_scope text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_request_once(p_rows penstock.job_request[], p_scope text) FROM PUBLIC;

-- Name: FUNCTION job_request_refuse(p_rows penstock.job_request[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_request_refuse(p_rows penstock.job_request[]) FROM PUBLIC;

-- Name: FUNCTION job_results_refused(p_results jsonb[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_results_refused(p_results jsonb[]) FROM PUBLIC;

-- Name: FUNCTION job_tables_locked(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_tables_locked() FROM PUBLIC;

-- Name: FUNCTION job_target_check(p_kind text, p_executor text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_target_check(p_kind text, p_executor text, p_actor text) FROM PUBLIC;

-- Name: FUNCTION job_target_known(p_executor text, p_pool text, p_event_domain text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.job_target_known(p_executor text, p_pool text, p_event_domain text) FROM PUBLIC;

-- Name: FUNCTION jobs_bury(p_job_ids bigint[], p_reason text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.jobs_bury(p_job_ids bigint[], p_reason text) FROM PUBLIC;

-- Name: FUNCTION jobs_due(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.jobs_due() FROM PUBLIC;

-- Name: FUNCTION jobs_finished(p_job_ids bigint[], p_tokens bigint[], p_without bigint[], p_rules bigint[], OUT done bigint[], OUT lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.jobs_finished(p_job_ids bigint[], p_tokens bigint[], p_without bigint[], p_rules bigint[], OUT done bigint[], OUT lanes text[]) FROM PUBLIC;

-- Name: FUNCTION jobs_promote(p_job_ids bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.jobs_promote(p_job_ids bigint[]) FROM PUBLIC;

-- Name: FUNCTION joins_settled(p_counts penstock.join_count[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.joins_settled(p_counts penstock.join_count[]) FROM PUBLIC;

-- Name: FUNCTION key_found(p_payload jsonb, p_keys text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.key_found(p_payload jsonb, p_keys text[]) FROM PUBLIC;

-- Name: FUNCTION keys_beyond(p_object jsonb, p_keys text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.keys_beyond(p_object jsonb, p_keys text[]) FROM PUBLIC;

-- Name: FUNCTION lane_heads(p_rows penstock.job_request[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lane_heads(p_rows penstock.job_request[]) FROM PUBLIC;

-- Name: FUNCTION lanes_advance(p_lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lanes_advance(p_lanes text[]) FROM PUBLIC;

-- Name: FUNCTION lanes_free(p_lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lanes_free(p_lanes text[]) FROM PUBLIC;

-- Name: FUNCTION lanes_headless(p_lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lanes_headless(p_lanes text[]) FROM PUBLIC;

-- Name: FUNCTION lanes_locked(p_lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lanes_locked(p_lanes text[]) FROM PUBLIC;

-- Name: FUNCTION lanes_next(p_lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lanes_next(p_lanes text[]) FROM PUBLIC;

-- Name: FUNCTION lanes_promote(p_lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lanes_promote(p_lanes text[]) FROM PUBLIC;

-- Name: FUNCTION lanes_settle(p_lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lanes_settle(p_lanes text[]) FROM PUBLIC;

-- Name: FUNCTION lanes_sweep(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.lanes_sweep(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION leases_reap(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.leases_reap(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION live_check(p_what text, p_is_live boolean, p_reviewed_at timestamp with time zone, p_command text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.live_check(p_what text, p_is_live boolean, p_reviewed_at timestamp with time zone, p_command text) FROM PUBLIC;

-- Name: FUNCTION local_instant(p_local timestamp without time zone, p_timezone text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.local_instant(p_local timestamp without time zone, p_timezone text) FROM PUBLIC;

-- Name: FUNCTION loops_advance(p_ends penstock.step_end[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.loops_advance(p_ends penstock.step_end[]) FROM PUBLIC;

-- Name: FUNCTION loops_ended(p_ends penstock.step_end[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.loops_ended(p_ends penstock.step_end[]) FROM PUBLIC;

-- Name: FUNCTION loops_opened(p_ends penstock.step_end[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.loops_opened(p_ends penstock.step_end[]) FROM PUBLIC;

-- Name: FUNCTION names_of(p_list jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.names_of(p_list jsonb) FROM PUBLIC;

-- Name: FUNCTION next_fault(p_execution_id bigint, p_step_id bigint, p_item integer, p_next jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.next_fault(p_execution_id bigint, p_step_id bigint, p_item integer, p_next jsonb) FROM PUBLIC;

-- Name: FUNCTION once_sweep(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.once_sweep(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION once_take(p_scope text, p_key text, p_ref text, p_ttl text, p_until timestamp with time zone); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.once_take(p_scope text, p_key text, p_ref text, p_ttl text, p_until timestamp with time zone) FROM PUBLIC;

-- Name: TABLE iu_outbound_route; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_outbound_route TO workflow_admin;
GRANT SELECT ON TABLE penstock.iu_outbound_route TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_outbound_route TO penstock_reader;

-- Name: FUNCTION outbound_route_check(p_route penstock.iu_outbound_route, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.outbound_route_check(p_route penstock.iu_outbound_route, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION outbound_route_defined(p_route_code text, p_definition jsonb, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.outbound_route_defined(p_route_code text, p_definition jsonb, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION outbox_guard(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.outbox_guard() FROM PUBLIC;

-- Name: FUNCTION outbox_head(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.outbox_head() FROM PUBLIC;

-- Name: FUNCTION outbox_is_due(p_within interval); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.outbox_is_due(p_within interval) FROM PUBLIC;

-- Name: FUNCTION outbox_tick_insert(p_is_fresh boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.outbox_tick_insert(p_is_fresh boolean) FROM PUBLIC;

-- Name: FUNCTION parents_told(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.parents_told(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION partition_ensure(p_parent text, p_at timestamp with time zone); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.partition_ensure(p_parent text, p_at timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION partitions_ahead(p_ahead integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.partitions_ahead(p_ahead integer) FROM PUBLIC;

-- Name: FUNCTION payload_check(p_payload jsonb, p_what text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.payload_check(p_payload jsonb, p_what text) FROM PUBLIC;

-- Name: TABLE iu_document; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_document TO workflow_admin;
GRANT SELECT ON TABLE penstock.iu_document TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_document TO penstock_reader;

-- Name: FUNCTION piece_document_locked(p_address text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.piece_document_locked(p_address text) FROM PUBLIC;

-- Name: FUNCTION playbook_graph_write(p_path text, p_version integer, p_content jsonb, p_graph jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.playbook_graph_write(p_path text, p_version integer, p_content jsonb, p_graph jsonb) FROM PUBLIC;

-- Name: FUNCTION playbook_targets(p_paths text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.playbook_targets(p_paths text[]) FROM PUBLIC;

-- Name: FUNCTION playbooks_known(p_content jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.playbooks_known(p_content jsonb) FROM PUBLIC;

-- Name: FUNCTION pools_check(p_pools text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.pools_check(p_pools text[]) FROM PUBLIC;

-- Name: FUNCTION pools_known(p_content jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.pools_known(p_content jsonb) FROM PUBLIC;

-- Name: FUNCTION promote_due(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.promote_due(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION queue_analyze(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.queue_analyze() FROM PUBLIC;

-- Name: FUNCTION results_forget(p_before timestamp with time zone, p_after bigint, p_limit integer, OUT gone integer, OUT after bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.results_forget(p_before timestamp with time zone, p_after bigint, p_limit integer, OUT gone integer, OUT after bigint) FROM PUBLIC;

-- Name: FUNCTION retry_delay_ms(p_attempt integer, p_step_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.retry_delay_ms(p_attempt integer, p_step_id bigint) FROM PUBLIC;

-- Name: FUNCTION review_check(p_what text, p_has_run_dry boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.review_check(p_what text, p_has_run_dry boolean) FROM PUBLIC;

-- Name: FUNCTION role_advice(p_role text, p_statement text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.role_advice(p_role text, p_statement text) FROM PUBLIC;

-- Name: TABLE iu_route_attempt; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_route_attempt TO workflow_admin;
GRANT SELECT ON TABLE penstock.iu_route_attempt TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_route_attempt TO penstock_reader;

-- Name: FUNCTION route_attempt_held(p_attempt penstock.iu_route_attempt, p_lease_token bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.route_attempt_held(p_attempt penstock.iu_route_attempt, p_lease_token bigint) FROM PUBLIC;

-- Name: FUNCTION route_dead_letter_locked(p_dead_letter_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.route_dead_letter_locked(p_dead_letter_id bigint) FROM PUBLIC;

-- Name: FUNCTION route_delivered(p_route penstock.iu_outbound_route, p_event penstock.event_outbox, p_key text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.route_delivered(p_route penstock.iu_outbound_route, p_event penstock.event_outbox, p_key text) FROM PUBLIC;

-- Name: FUNCTION route_replay(p_dead_letter_id bigint, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.route_replay(p_dead_letter_id bigint, p_actor text) FROM PUBLIC;

-- Name: FUNCTION route_sent(p_attempt penstock.iu_route_attempt); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.route_sent(p_attempt penstock.iu_route_attempt) FROM PUBLIC;

-- Name: FUNCTION routes_bury(p_attempts bigint[], p_events penstock.event_outbox[], p_reason text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routes_bury(p_attempts bigint[], p_events penstock.event_outbox[], p_reason text) FROM PUBLIC;

-- Name: TABLE iu_route_worker_cursor; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_route_worker_cursor TO workflow_admin;
GRANT SELECT ON TABLE penstock.iu_route_worker_cursor TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_route_worker_cursor TO penstock_reader;

-- Name: FUNCTION routes_failed(p_worker penstock.iu_route_worker_cursor, p_event penstock.event_outbox, p_message text, p_sqlstate text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routes_failed(p_worker penstock.iu_route_worker_cursor, p_event penstock.event_outbox, p_message text, p_sqlstate text) FROM PUBLIC;

-- Name: FUNCTION routes_for(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routes_for(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]) FROM PUBLIC;

-- Name: FUNCTION routes_queue(p_attempts bigint[], p_events penstock.event_outbox[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routes_queue(p_attempts bigint[], p_events penstock.event_outbox[]) FROM PUBLIC;

-- Name: FUNCTION routes_run(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routes_run(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]) FROM PUBLIC;

-- Name: FUNCTION routes_run_apart(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routes_run_apart(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]) FROM PUBLIC;

-- Name: FUNCTION routes_settle(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routes_settle(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION routes_tick(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routes_tick() FROM PUBLIC;

-- Name: FUNCTION routine_args(p_routine pg_proc); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.routine_args(p_routine pg_proc) FROM PUBLIC;

-- Name: FUNCTION runtime_checked(p_subscription text, p_held penstock.subscription_runtime, p_token bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.runtime_checked(p_subscription text, p_held penstock.subscription_runtime, p_token bigint) FROM PUBLIC;

-- Name: FUNCTION runtime_counted(p_subscription text, p_report jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.runtime_counted(p_subscription text, p_report jsonb) FROM PUBLIC;

-- Name: FUNCTION runtime_renewed(p_subscription text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.runtime_renewed(p_subscription text) FROM PUBLIC;

-- Name: FUNCTION runtime_until(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.runtime_until() FROM PUBLIC;

-- Name: TABLE schedule; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.schedule TO workflow_admin;
GRANT SELECT ON TABLE penstock.schedule TO dot_executor;
GRANT SELECT ON TABLE penstock.schedule TO penstock_reader;

-- Name: FUNCTION schedule_failed(p_schedule penstock.schedule, p_sqlstate text, p_message text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.schedule_failed(p_schedule penstock.schedule, p_sqlstate text, p_message text) FROM PUBLIC;

-- Name: FUNCTION schedule_next(p_cron text, p_every interval, p_timezone text, p_planned timestamp with time zone); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.schedule_next(p_cron text, p_every interval, p_timezone text, p_planned timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION schedule_request(p_job jsonb, p_actor text, p_key text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.schedule_request(p_job jsonb, p_actor text, p_key text) FROM PUBLIC;

-- Name: FUNCTION schedule_run(p_schedule penstock.schedule); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.schedule_run(p_schedule penstock.schedule) FROM PUBLIC;

-- Name: FUNCTION schedules_run(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.schedules_run(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION silence_watch(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.silence_watch() FROM PUBLIC;

-- Name: FUNCTION single_moved(p_execution_id bigint, p_action text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.single_moved(p_execution_id bigint, p_action text, p_actor text) FROM PUBLIC;

-- Name: FUNCTION snapshot_shifted(p_snapshot pg_snapshot, p_base bigint, p_own xid8); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.snapshot_shifted(p_snapshot pg_snapshot, p_base bigint, p_own xid8) FROM PUBLIC;

-- Name: FUNCTION sql_call_done(p_route_code text, p_args jsonb, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_call_done(p_route_code text, p_args jsonb, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.sql_call_done(p_route_code text, p_args jsonb, p_actor text) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.sql_call_done(p_route_code text, p_args jsonb, p_actor text) TO dot_executor;
GRANT ALL ON FUNCTION penstock.sql_call_done(p_route_code text, p_args jsonb, p_actor text) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.sql_call_done(p_route_code text, p_args jsonb, p_actor text) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.sql_call_done(p_route_code text, p_args jsonb, p_actor text) TO workflow_admin;

-- Name: FUNCTION sql_call_statement(p_route_code text, p_args jsonb, OUT statement text, OUT gives boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_call_statement(p_route_code text, p_args jsonb, OUT statement text, OUT gives boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.sql_call_statement(p_route_code text, p_args jsonb, OUT statement text, OUT gives boolean) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.sql_call_statement(p_route_code text, p_args jsonb, OUT statement text, OUT gives boolean) TO dot_executor;
GRANT ALL ON FUNCTION penstock.sql_call_statement(p_route_code text, p_args jsonb, OUT statement text, OUT gives boolean) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.sql_call_statement(p_route_code text, p_args jsonb, OUT statement text, OUT gives boolean) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.sql_call_statement(p_route_code text, p_args jsonb, OUT statement text, OUT gives boolean) TO workflow_admin;

-- Name: TABLE iu_sql_event_route; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_sql_event_route TO workflow_admin;
GRANT SELECT ON TABLE penstock.iu_sql_event_route TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_sql_event_route TO penstock_reader;

-- Name: FUNCTION sql_ddl_emit(p_route penstock.iu_sql_event_route, p_objects jsonb, p_tag text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_ddl_emit(p_route penstock.iu_sql_event_route, p_objects jsonb, p_tag text) FROM PUBLIC;

-- Name: FUNCTION sql_ddl_fired(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_ddl_fired() FROM PUBLIC;

-- Name: FUNCTION sql_ddl_is_ours(p_schema text, p_type text, p_identity text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_ddl_is_ours(p_schema text, p_type text, p_identity text) FROM PUBLIC;

-- Name: FUNCTION sql_ddl_objects(p_event text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_ddl_objects(p_event text) FROM PUBLIC;

-- Name: FUNCTION sql_route_body(p_route penstock.iu_sql_event_route, p_table regclass); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_body(p_route penstock.iu_sql_event_route, p_table regclass) FROM PUBLIC;

-- Name: FUNCTION sql_route_check(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_check(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_checked(p_payload jsonb, p_route_code text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_checked(p_payload jsonb, p_route_code text) FROM PUBLIC;

-- Name: FUNCTION sql_route_columns(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_columns(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_context_now(p_is_keyed boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_context_now(p_is_keyed boolean) FROM PUBLIC;

-- Name: FUNCTION sql_route_ddl(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_ddl(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_defined(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_defined(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_dry(p_route_code text, p_table regclass); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_dry(p_route_code text, p_table regclass) FROM PUBLIC;

-- Name: FUNCTION sql_route_filter(p_route penstock.iu_sql_event_route, p_table regclass); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_filter(p_route penstock.iu_sql_event_route, p_table regclass) FROM PUBLIC;

-- Name: FUNCTION sql_route_joined(p_table regclass, p_columns text[], p_there text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_joined(p_table regclass, p_columns text[], p_there text[]) FROM PUBLIC;

-- Name: FUNCTION sql_route_names_check(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_names_check(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_noted(p_route_code text, p_outcome text, p_events bigint, p_sample jsonb, p_detail text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_noted(p_route_code text, p_outcome text, p_events bigint, p_sample jsonb, p_detail text) FROM PUBLIC;

-- Name: FUNCTION sql_route_payload(p_route penstock.iu_sql_event_route, p_table regclass); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_payload(p_route penstock.iu_sql_event_route, p_table regclass) FROM PUBLIC;

-- Name: FUNCTION sql_route_read(p_route_code text, p_definition jsonb, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_read(p_route_code text, p_definition jsonb, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION sql_route_routine(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_routine(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_rows(p_route penstock.iu_sql_event_route, p_table regclass); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_rows(p_route penstock.iu_sql_event_route, p_table regclass) FROM PUBLIC;

-- Name: FUNCTION sql_route_sized(p_payload jsonb, p_route_code text, p_small_bytes integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_sized(p_payload jsonb, p_route_code text, p_small_bytes integer) FROM PUBLIC;

-- Name: FUNCTION sql_route_state(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) FROM PUBLIC;
GRANT ALL ON FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) TO workflow_admin;
GRANT ALL ON FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) TO dot_executor;
GRANT ALL ON FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) TO penstock_producer;
GRANT ALL ON FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) TO penstock_mot;
GRANT ALL ON FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) TO penstock_pipeline;
GRANT ALL ON FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) TO penstock_gateway;
GRANT ALL ON FUNCTION penstock.sql_route_state(p_route penstock.iu_sql_event_route) TO penstock_reader;

-- Name: FUNCTION sql_route_statement(p_route penstock.iu_sql_event_route, p_table regclass, p_values text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_statement(p_route penstock.iu_sql_event_route, p_table regclass, p_values text) FROM PUBLIC;

-- Name: FUNCTION sql_route_table(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_table(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_table_check(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_table_check(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_trigger(p_route penstock.iu_sql_event_route); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_trigger(p_route penstock.iu_sql_event_route) FROM PUBLIC;

-- Name: FUNCTION sql_route_untriggered(p_trigger text, p_but regclass); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_untriggered(p_trigger text, p_but regclass) FROM PUBLIC;

-- Name: FUNCTION sql_route_value(p_table regclass, p_column text, p_row text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.sql_route_value(p_table regclass, p_column text, p_row text) FROM PUBLIC;

-- Name: FUNCTION stage_drop(p_stage text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.stage_drop(p_stage text) FROM PUBLIC;

-- Name: FUNCTION stage_name(p_subscription text, p_token bigint, p_lane integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.stage_name(p_subscription text, p_token bigint, p_lane integer) FROM PUBLIC;

-- Name: FUNCTION staged_time(p_time json); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.staged_time(p_time json) FROM PUBLIC;

-- Name: FUNCTION staging_move(p_staging_ids bigint[], p_from text, p_to text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.staging_move(p_staging_ids bigint[], p_from text, p_to text) FROM PUBLIC;

-- Name: FUNCTION step_replayed(p_execution_id bigint, p_letter penstock.job_dead_letter, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.step_replayed(p_execution_id bigint, p_letter penstock.job_dead_letter, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION step_timeouts_check(p_path text, p_version integer, p_content jsonb); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.step_timeouts_check(p_path text, p_version integer, p_content jsonb) FROM PUBLIC;

-- Name: FUNCTION steps_end(p_ends penstock.step_end[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.steps_end(p_ends penstock.step_end[]) FROM PUBLIC;

-- Name: FUNCTION steps_failed(p_job_ids bigint[], p_reason text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.steps_failed(p_job_ids bigint[], p_reason text) FROM PUBLIC;

-- Name: FUNCTION steps_finished(p_job_ids bigint[], p_tokens bigint[], p_next jsonb[], p_without bigint[], p_rules bigint[], OUT done bigint[], OUT bad bigint[], OUT lanes text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.steps_finished(p_job_ids bigint[], p_tokens bigint[], p_next jsonb[], p_without bigint[], p_rules bigint[], OUT done bigint[], OUT bad bigint[], OUT lanes text[]) FROM PUBLIC;

-- Name: FUNCTION steps_forget(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.steps_forget(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION steps_hold(p_job_ids bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.steps_hold(p_job_ids bigint[]) FROM PUBLIC;

-- Name: FUNCTION steps_start(p_starts penstock.step_start[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.steps_start(p_starts penstock.step_start[]) FROM PUBLIC;

-- Name: FUNCTION subscription_activable(p_path text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscription_activable(p_path text) FROM PUBLIC;

-- Name: FUNCTION subscription_caution(p_path text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscription_caution(p_path text) FROM PUBLIC;

-- Name: FUNCTION subscription_event(p_path text, p_happening text, p_actor penstock.actor_ref, p_detail jsonb, p_execution_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscription_event(p_path text, p_happening text, p_actor penstock.actor_ref, p_detail jsonb, p_execution_id bigint) FROM PUBLIC;

-- Name: FUNCTION subscription_locked(p_path text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscription_locked(p_path text) FROM PUBLIC;

-- Name: FUNCTION subscription_moved(p_path text, p_to text, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscription_moved(p_path text, p_to text, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION subscription_moves(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscription_moves() FROM PUBLIC;

-- Name: FUNCTION subscription_registered(p_path text, p_version integer, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscription_registered(p_path text, p_version integer, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION subscription_schedule(p_path text, p_actor penstock.actor_ref); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscription_schedule(p_path text, p_actor penstock.actor_ref) FROM PUBLIC;

-- Name: FUNCTION subscriptions_watch(); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.subscriptions_watch() FROM PUBLIC;

-- Name: FUNCTION system_event_once(p_type text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_key text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.system_event_once(p_type text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_key text) FROM PUBLIC;

-- Name: FUNCTION table_key(p_table regclass); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.table_key(p_table regclass) FROM PUBLIC;

-- Name: FUNCTION template_format(p_template text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.template_format(p_template text) FROM PUBLIC;

-- Name: FUNCTION template_rendered(p_format text, p_event penstock.event_outbox); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.template_rendered(p_format text, p_event penstock.event_outbox) FROM PUBLIC;

-- Name: FUNCTION tick_part(p_part text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.tick_part(p_part text) FROM PUBLIC;

-- Name: FUNCTION timezone_checked(p_timezone text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.timezone_checked(p_timezone text) FROM PUBLIC;

-- Name: FUNCTION token_speaks(p_caller text, p_actor text); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.token_speaks(p_caller text, p_actor text) FROM PUBLIC;

-- Name: FUNCTION tx_shifted(p_tx xid8, p_base bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.tx_shifted(p_tx xid8, p_base bigint) FROM PUBLIC;

-- Name: FUNCTION wake(p_domains text[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.wake(p_domains text[]) FROM PUBLIC;

-- Name: FUNCTION workflow_family(p_execution_ids bigint[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.workflow_family(p_execution_ids bigint[]) FROM PUBLIC;

-- Name: FUNCTION workflow_mended(p_execution_id bigint); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.workflow_mended(p_execution_id bigint) FROM PUBLIC;

-- Name: FUNCTION workflows_counted(p_ends penstock.step_end[], p_starts penstock.step_start[]); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.workflows_counted(p_ends penstock.step_end[], p_starts penstock.step_start[]) FROM PUBLIC;

-- Name: FUNCTION workflows_forget(p_before timestamp with time zone, p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.workflows_forget(p_before timestamp with time zone, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION workflows_locked(p_job_ids bigint[], p_plain boolean); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.workflows_locked(p_job_ids bigint[], p_plain boolean) FROM PUBLIC;

-- Name: FUNCTION workflows_sweep(p_limit integer); Type: ACL; Schema: penstock; Owner: -

REVOKE ALL ON FUNCTION penstock.workflows_sweep(p_limit integer) FROM PUBLIC;

-- Name: TABLE actor_binding; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.actor_binding TO workflow_admin;
GRANT SELECT ON TABLE penstock.actor_binding TO dot_executor;
GRANT SELECT ON TABLE penstock.actor_binding TO penstock_reader;

-- Name: TABLE catalog; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.catalog TO workflow_admin;
GRANT SELECT ON TABLE penstock.catalog TO dot_executor;
GRANT SELECT ON TABLE penstock.catalog TO penstock_producer;
GRANT SELECT ON TABLE penstock.catalog TO penstock_mot;
GRANT SELECT ON TABLE penstock.catalog TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.catalog TO penstock_gateway;
GRANT SELECT ON TABLE penstock.catalog TO penstock_reader;

-- Name: TABLE consumer_dispatch; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.consumer_dispatch TO workflow_admin;
GRANT SELECT ON TABLE penstock.consumer_dispatch TO dot_executor;
GRANT SELECT ON TABLE penstock.consumer_dispatch TO penstock_reader;

-- Name: TABLE consumer_registry; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.consumer_registry TO workflow_admin;
GRANT SELECT ON TABLE penstock.consumer_registry TO dot_executor;
GRANT SELECT ON TABLE penstock.consumer_registry TO penstock_reader;

-- Name: TABLE dot_config; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.dot_config TO workflow_admin;
GRANT SELECT ON TABLE penstock.dot_config TO dot_executor;
GRANT SELECT ON TABLE penstock.dot_config TO penstock_reader;

-- Name: TABLE event_broadcast; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.event_broadcast TO workflow_admin;
GRANT SELECT ON TABLE penstock.event_broadcast TO dot_executor;
GRANT SELECT ON TABLE penstock.event_broadcast TO penstock_reader;

-- Name: TABLE event_domain; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.event_domain TO workflow_admin;
GRANT SELECT ON TABLE penstock.event_domain TO dot_executor;
GRANT SELECT ON TABLE penstock.event_domain TO penstock_reader;

-- Name: TABLE event_subscription; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.event_subscription TO workflow_admin;
GRANT SELECT ON TABLE penstock.event_subscription TO dot_executor;
GRANT SELECT ON TABLE penstock.event_subscription TO penstock_reader;

-- Name: TABLE event_type_registry; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.event_type_registry TO workflow_admin;
GRANT SELECT ON TABLE penstock.event_type_registry TO dot_executor;
GRANT SELECT ON TABLE penstock.event_type_registry TO penstock_reader;

-- Name: TABLE execution_input; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.execution_input TO dot_executor;
GRANT SELECT ON TABLE penstock.execution_input TO workflow_admin;

-- Name: TABLE executor_grant; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.executor_grant TO workflow_admin;
GRANT SELECT ON TABLE penstock.executor_grant TO dot_executor;
GRANT SELECT ON TABLE penstock.executor_grant TO penstock_reader;

-- Name: TABLE ingest_message; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.ingest_message TO dot_executor;
GRANT SELECT ON TABLE penstock.ingest_message TO workflow_admin;

-- Name: TABLE iu_axis; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_axis TO workflow_admin;
GRANT SELECT ON TABLE penstock.iu_axis TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_axis TO penstock_reader;

-- Name: TABLE iu_composition; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_composition TO workflow_admin;
GRANT SELECT ON TABLE penstock.iu_composition TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_composition TO penstock_reader;

-- Name: TABLE iu_piece; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_piece TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_piece TO workflow_admin;

-- Name: TABLE iu_staging_mark; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_staging_mark TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_staging_mark TO workflow_admin;

-- Name: TABLE iu_staging_record; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.iu_staging_record TO dot_executor;
GRANT SELECT ON TABLE penstock.iu_staging_record TO workflow_admin;

-- Name: TABLE job; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job TO workflow_admin;
GRANT SELECT ON TABLE penstock.job TO dot_executor;
GRANT SELECT ON TABLE penstock.job TO penstock_producer;
GRANT SELECT ON TABLE penstock.job TO penstock_mot;
GRANT SELECT ON TABLE penstock.job TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.job TO penstock_gateway;
GRANT SELECT ON TABLE penstock.job TO penstock_reader;

-- Name: SEQUENCE job_id_seq; Type: ACL; Schema: penstock; Owner: -

GRANT USAGE ON SEQUENCE penstock.job_id_seq TO penstock_pipeline;

-- Name: TABLE job_item; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job_item TO dot_executor;
GRANT SELECT ON TABLE penstock.job_item TO workflow_admin;

-- Name: TABLE job_join; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job_join TO workflow_admin;
GRANT SELECT ON TABLE penstock.job_join TO dot_executor;
GRANT SELECT ON TABLE penstock.job_join TO penstock_reader;

-- Name: TABLE job_loop; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job_loop TO workflow_admin;
GRANT SELECT ON TABLE penstock.job_loop TO dot_executor;
GRANT SELECT ON TABLE penstock.job_loop TO penstock_reader;

-- Name: TABLE job_move; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job_move TO workflow_admin;
GRANT SELECT ON TABLE penstock.job_move TO dot_executor;
GRANT SELECT ON TABLE penstock.job_move TO penstock_producer;
GRANT SELECT ON TABLE penstock.job_move TO penstock_mot;
GRANT SELECT ON TABLE penstock.job_move TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.job_move TO penstock_gateway;
GRANT SELECT ON TABLE penstock.job_move TO penstock_reader;

-- Name: TABLE job_result; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job_result TO workflow_admin;
GRANT SELECT ON TABLE penstock.job_result TO dot_executor;
GRANT SELECT ON TABLE penstock.job_result TO penstock_reader;

-- Name: TABLE job_step; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job_step TO workflow_admin;
GRANT SELECT ON TABLE penstock.job_step TO dot_executor;
GRANT SELECT ON TABLE penstock.job_step TO penstock_reader;

-- Name: TABLE job_subscription; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job_subscription TO workflow_admin;
GRANT SELECT ON TABLE penstock.job_subscription TO dot_executor;
GRANT SELECT ON TABLE penstock.job_subscription TO penstock_reader;

-- Name: TABLE job_workflow; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.job_workflow TO workflow_admin;
GRANT SELECT ON TABLE penstock.job_workflow TO dot_executor;
GRANT SELECT ON TABLE penstock.job_workflow TO penstock_reader;

-- Name: TABLE outbox_tick; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.outbox_tick TO workflow_admin;
GRANT SELECT ON TABLE penstock.outbox_tick TO dot_executor;
GRANT SELECT ON TABLE penstock.outbox_tick TO penstock_reader;

-- Name: TABLE playbook_arc; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.playbook_arc TO workflow_admin;
GRANT SELECT ON TABLE penstock.playbook_arc TO dot_executor;
GRANT SELECT ON TABLE penstock.playbook_arc TO penstock_reader;

-- Name: TABLE playbook_step; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.playbook_step TO workflow_admin;
GRANT SELECT ON TABLE penstock.playbook_step TO dot_executor;
GRANT SELECT ON TABLE penstock.playbook_step TO penstock_reader;

-- Name: TABLE pool; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.pool TO workflow_admin;
GRANT SELECT ON TABLE penstock.pool TO dot_executor;
GRANT SELECT ON TABLE penstock.pool TO penstock_reader;

-- Name: TABLE queue_heartbeat; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.queue_heartbeat TO workflow_admin;
GRANT SELECT ON TABLE penstock.queue_heartbeat TO dot_executor;
GRANT SELECT ON TABLE penstock.queue_heartbeat TO penstock_reader;

-- Name: TABLE schema_migration; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.schema_migration TO PUBLIC;

-- Name: TABLE sql_event_route_note; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.sql_event_route_note TO workflow_admin;
GRANT SELECT ON TABLE penstock.sql_event_route_note TO dot_executor;
GRANT SELECT ON TABLE penstock.sql_event_route_note TO penstock_reader;

-- Name: TABLE v_api_token; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_api_token TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_api_token TO dot_executor;
GRANT SELECT ON TABLE penstock.v_api_token TO penstock_reader;

-- Name: TABLE v_consumer_dispatch_recent; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_consumer_dispatch_recent TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_consumer_dispatch_recent TO dot_executor;
GRANT SELECT ON TABLE penstock.v_consumer_dispatch_recent TO penstock_reader;

-- Name: TABLE v_consumer_registry_active; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_consumer_registry_active TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_consumer_registry_active TO dot_executor;
GRANT SELECT ON TABLE penstock.v_consumer_registry_active TO penstock_reader;

-- Name: TABLE v_dead_letter; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_dead_letter TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_dead_letter TO dot_executor;
GRANT SELECT ON TABLE penstock.v_dead_letter TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_dead_letter TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_dead_letter TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_dead_letter TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_dead_letter TO penstock_reader;

-- Name: TABLE v_event_cursor; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_event_cursor TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_event_cursor TO dot_executor;
GRANT SELECT ON TABLE penstock.v_event_cursor TO penstock_reader;

-- Name: TABLE v_job; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_job TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_job TO dot_executor;
GRANT SELECT ON TABLE penstock.v_job TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_job TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_job TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_job TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_job TO penstock_reader;

-- Name: TABLE v_execution; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_execution TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_execution TO dot_executor;
GRANT SELECT ON TABLE penstock.v_execution TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_execution TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_execution TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_execution TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_execution TO penstock_reader;

-- Name: TABLE v_execution_event; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_execution_event TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_execution_event TO dot_executor;
GRANT SELECT ON TABLE penstock.v_execution_event TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_execution_event TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_execution_event TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_execution_event TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_execution_event TO penstock_reader;

-- Name: TABLE v_execution_step; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_execution_step TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_execution_step TO dot_executor;
GRANT SELECT ON TABLE penstock.v_execution_step TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_execution_step TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_execution_step TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_execution_step TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_execution_step TO penstock_reader;

-- Name: TABLE v_executor_subscription_health; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_executor_subscription_health TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_executor_subscription_health TO dot_executor;
GRANT SELECT ON TABLE penstock.v_executor_subscription_health TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_executor_subscription_health TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_executor_subscription_health TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_executor_subscription_health TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_executor_subscription_health TO penstock_reader;

-- Name: TABLE v_ingest_position; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_ingest_position TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_ingest_position TO dot_executor;
GRANT SELECT ON TABLE penstock.v_ingest_position TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_ingest_position TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_ingest_position TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_ingest_position TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_ingest_position TO penstock_reader;

-- Name: TABLE v_iu_document; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_iu_document TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_iu_document TO dot_executor;
GRANT SELECT ON TABLE penstock.v_iu_document TO penstock_reader;

-- Name: TABLE v_iu_route_attempt_recent; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_iu_route_attempt_recent TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_iu_route_attempt_recent TO dot_executor;
GRANT SELECT ON TABLE penstock.v_iu_route_attempt_recent TO penstock_reader;

-- Name: TABLE v_iu_route_dead_letter_open; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_iu_route_dead_letter_open TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_iu_route_dead_letter_open TO dot_executor;
GRANT SELECT ON TABLE penstock.v_iu_route_dead_letter_open TO penstock_reader;

-- Name: TABLE v_iu_route_worker_status; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_iu_route_worker_status TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_iu_route_worker_status TO dot_executor;
GRANT SELECT ON TABLE penstock.v_iu_route_worker_status TO penstock_reader;

-- Name: TABLE v_job_awaiting; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_job_awaiting TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_job_awaiting TO dot_executor;
GRANT SELECT ON TABLE penstock.v_job_awaiting TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_job_awaiting TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_job_awaiting TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_job_awaiting TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_job_awaiting TO penstock_reader;

-- Name: TABLE v_job_queue_backlog; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_job_queue_backlog TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_job_queue_backlog TO dot_executor;
GRANT SELECT ON TABLE penstock.v_job_queue_backlog TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_job_queue_backlog TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_job_queue_backlog TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_job_queue_backlog TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_job_queue_backlog TO penstock_reader;

-- Name: TABLE v_job_queue_dead_letter_open; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_job_queue_dead_letter_open TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_job_queue_dead_letter_open TO dot_executor;
GRANT SELECT ON TABLE penstock.v_job_queue_dead_letter_open TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_job_queue_dead_letter_open TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_job_queue_dead_letter_open TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_job_queue_dead_letter_open TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_job_queue_dead_letter_open TO penstock_reader;

-- Name: TABLE v_queue_health; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_queue_health TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_queue_health TO dot_executor;
GRANT SELECT ON TABLE penstock.v_queue_health TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_queue_health TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_queue_health TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_queue_health TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_queue_health TO penstock_reader;

-- Name: TABLE v_sql_event_route_active; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_sql_event_route_active TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_sql_event_route_active TO dot_executor;
GRANT SELECT ON TABLE penstock.v_sql_event_route_active TO penstock_reader;

-- Name: TABLE v_subscription; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_subscription TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_subscription TO dot_executor;
GRANT SELECT ON TABLE penstock.v_subscription TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_subscription TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_subscription TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_subscription TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_subscription TO penstock_reader;

-- Name: TABLE v_subscription_broadcast_used; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_subscription_broadcast_used TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_subscription_broadcast_used TO dot_executor;
GRANT SELECT ON TABLE penstock.v_subscription_broadcast_used TO penstock_reader;

-- Name: TABLE v_subscription_event; Type: ACL; Schema: penstock; Owner: -

GRANT SELECT ON TABLE penstock.v_subscription_event TO workflow_admin;
GRANT SELECT ON TABLE penstock.v_subscription_event TO dot_executor;
GRANT SELECT ON TABLE penstock.v_subscription_event TO penstock_producer;
GRANT SELECT ON TABLE penstock.v_subscription_event TO penstock_mot;
GRANT SELECT ON TABLE penstock.v_subscription_event TO penstock_pipeline;
GRANT SELECT ON TABLE penstock.v_subscription_event TO penstock_gateway;
GRANT SELECT ON TABLE penstock.v_subscription_event TO penstock_reader;
