-- retry_delay_ms: how long a job waits after its p_attempt-th try failed.
--   p_step_id  the step it is of, which may have a backoff of its own
--   reads  dot_config queue.retry.backoff.*: strategy exponential, linear or fixed; base_ms; cap_ms; jitter, the share
--          by which the delay varies either way
create or replace function penstock.retry_delay_ms(p_attempt integer, p_step_id bigint default null) returns bigint
language sql volatile set search_path = pg_catalog, pg_temp as $$
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
