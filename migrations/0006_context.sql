-- What is said of a conversation's context: wishes as JSON, as they were written.
alter table conversations add column context text;

-- The turn that it had come to when it was reset: nothing up to it is told to a model any more.
alter table conversations add column reset_after text;
