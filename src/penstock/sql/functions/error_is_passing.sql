-- error_is_passing: is this an error of the moment, and not of what was being done? A deadlock, a serialization failure, a cancel, a
-- shutdown, no room left. Then all of it is tried again later.
create or replace function penstock.error_is_passing(p_sqlstate text) returns boolean
language sql immutable
return p_sqlstate ~ '^(40|53|57|58|XX)';
