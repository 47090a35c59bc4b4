/** Steps of query plans that look as if they read or sort many rows, with the reason why they may. */

export interface BoundedStep {
  /** Matches the names of statements. */
  readonly statement: RegExp
  readonly step: RegExp
  readonly reason: string
}

const SORT = /^USE TEMP B-TREE|^(Incremental )?Sort /

export const BOUNDED_STEPS: readonly BoundedStep[] = [
  {
    statement: /-of-user$|^delete-facts$/,
    step: /^SEARCH|^Index/,
    reason: 'deletes all rows of the user',
  },
  {
    statement:
      /^(delete-old-log.*|remove-old-log-entries|.*unused.*|remove-expired-.*|deletable-turns-.*)$/,
    step: /[<>]|^Sort "ANY_subquery"/,
    reason: 'reads the rows that are due, in pages',
  },
  {
    statement: /^lock-released-media$/,
    step: /media_by_use/,
    reason: 'reads a page of released media, in the order of the index',
  },
  {
    statement: /^remove-released-pieces$/,
    step: SORT,
    reason: 'sorts at most 200 pieces of media',
  },
  {
    statement: /^limit-times-in-/,
    step: /_by_user_and_time .*(created|fetched)_at ?>/,
    reason: 'reads the rows of the user with a later time than the present',
  },
  {
    statement: /^(erase-.*|release-erased-addresses)$/,
    step: /_by_user_and_time/,
    reason: 'reads a page of the rows of the user, in the order of the index',
  },
  {
    statement: /^turns-of-erased-conversation$/,
    step: SORT,
    reason: 'sorts the turns of one page',
  },
  {
    statement: /^remove-answer-messages-of-thread$/,
    step: SORT,
    reason: 'collects the chats of one thread',
  },
  { statement: /^deletable-chain$/, step: SORT, reason: 'sorts the turns of one transaction' },
  {
    statement: /^(detach-conversations|delete-.*)-of-slice$/,
    step: /^Sort (sized|listed)/,
    reason: 'sorts what one transaction deletes',
  },
  { statement: /^orphaned-runs$/, step: SORT, reason: 'sorts the unfinished turns' },
  {
    statement: /^(listed-turns|listed-items)-(asc|desc)-0$/,
    step: /listed_chats/,
    reason: 'the index holds what is listed, and the page has a limit',
  },
  {
    statement: /^(listed-turns|listed-items)-(asc|desc)-2$/,
    step: /labelled_chats/,
    reason: 'reads labelled chats until the page is full (src/store/README.md)',
  },
  { statement: /^list-facts-/, step: /facts_by_owner/, reason: 'the page has a limit' },
  {
    statement: /^facts-ending$/,
    step: /facts_by_owner/,
    reason: 'reads the facts of one owner, when a fact is named by the end of its id',
  },
  {
    statement: /^(update-fact|count-facts|remove-erased-fact)$/,
    step: /facts_by_owner/,
    reason: 'Postgres reads the facts of one owner as long as it has no statistics',
  },
  {
    statement: /^(search-facts|count-fact-words)$/,
    step: SORT,
    reason: 'sorts at most 200 facts for each word',
  },
  { statement: /^slice-turns$/, step: SORT, reason: 'sorts the turns of a path of shortcuts' },
  { statement: /^remove-layers-of-thread$/, step: SORT, reason: 'sorts two ids' },
  { statement: /^core-facts$/, step: SORT, reason: 'sorts the core facts of one owner' },
  {
    statement: /^load-layer-versions$/,
    step: SORT,
    reason: 'sorts the versions of one layer, of which few are kept',
  },
  {
    statement: /^recalled$/,
    step: SORT,
    reason: 'sorts at most 200 turns for each call id',
  },
  { statement: /^find-summaries$/, step: SORT, reason: 'sorts one summary for each hash' },
]

/** Files whose statements no request waits for, with the reason why their plans are not checked. */
export const UNPLANNED_FILES: Readonly<Record<string, string>> = {
  'database/migrate.ts': 'runs at the start',
  'database/schema-version.ts': 'runs at the start',
  'deletion/deletion-locks.ts': 'reads no table',
  'encryption/old-format-rule.ts': 'runs at the start, and looks at one row of each table',
  'encryption/re-encrypt-rows.ts': 'the command `reseal`, which reads every row',
  'facts/rekey-fact-index.ts': 'runs at the start, in pages of the primary key',
}
