/** Checks that no query of recall or expiry scans a whole table. */
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { createExpiryAndDeletionStatements } from '../../../src/store/deletion/expiry-and-deletion-statements.ts'
import { createRecallStatements } from '../../../src/store/recall/recall-statements.ts'
import { expectIndexes } from '../expect-indexes.ts'

const search = {
  tenant: 't',
  user: '',
  turnIds: '["7","8"]',
  callIds: '["c7","c8"]',
  fingerprints: '["f7","f8"]',
  cachedTurnIds: '["8"]',
}
const page = { unusedSinceMs: 50, nowMs: 100, afterMs: 50, afterId: '', limit: 500 }
const slice = { unusedSinceMs: 50, turnIds: '["7","8"]', nowMs: 100 }

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const recall = createRecallStatements(language)
  const deletion = createExpiryAndDeletionStatements(language)
  return {
    recalled: recall.searchTurns(search),
    itemsOf: recall.selectItems({ turnIds: '["7","8"]' }),
    touchTurns: recall.touchTurns({ tenant: 't', turnIds: '["7"]', nowMs: 1 }),
    unusedTurns: deletion.unusedTurns('all')(page),
    unusedTemporaryTurns: deletion.unusedTurns('temporary')(page),
    deletableTurns: deletion.deletableTurns('all')(page),
    deleteEventsOfUnused: deletion.deleteEventsOfUnused('all')(slice),
    removeUnused: deletion.removeUnused('all')(slice),
    removeUnusedTemporary: deletion.removeUnused('temporary')(slice),
    markUnused: deletion.markUnused('all')(slice),
  }
}

/** Inserts rows without statistics, as in the first minutes of a busy gateway. */
async function fill(engine: Engine): Promise<void> {
  const inserts = [
    `insert into turns (id, tenant, user_id, thread, dialect, wire, account, model, state,
      created_at, used_at, request, conversation, fingerprint, parent, short_lived)
      select n, 't', 'u' || n, n, 'chat', 'w', 'a', 'm', 'complete', n, n, '{}', 'conv_' || n,
      'f' || n, n - 1, n % 2 from generate_series(1, 3000) n`,
    `insert into items (turn_id, tenant, side, position, type, body, call_id, called_for)
      select n, 't', 'out', p, 'message', repeat('x', 300), 'c' || n,
      case when n % 2 = 0 then 'u' || n end
      from generate_series(1, 3000) n, generate_series(1, 4) p`,
    `insert into conversations (id, tenant, user_id, metadata, created_at, head)
      select 'conv_' || n, 't', 'u' || n, '{}', 1, n from generate_series(1, 3000) n`,
    `insert into stream_events (turn_id, first_number, last_number, tenant, text)
      select n, 0, 1, 't', 'x' from generate_series(1, 3000) n`,
  ]
  await engine.write(inserts.map((sql) => ({ name: null, sql, parameters: [] })))
}

expectIndexes({
  queriesFor,
  own: 'wanted|page|deletable|called|latest_calls|same|named|with_starts|found|\\(subquery',
  fill,
})
