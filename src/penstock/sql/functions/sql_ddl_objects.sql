-- sql_ddl_objects: what the command under way has touched, as [{"schema", "type", "identity"}]; null for nothing.
create or replace function penstock.sql_ddl_objects(p_event text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
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
