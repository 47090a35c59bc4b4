-- JSON: the policy overrides of a conversation, as the client sent them.
alter table conversations add column context text;

-- The head at the time of the last reset. Models do not see the turns up to it any more.
alter table conversations add column reset_after text;
