/** Checks that no query of a deletion in progress scans a whole table. */
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { createErasureStatements } from '../../../src/store/deletion/erasure-statements.ts'
import { createTurnSliceBuilder } from '../../../src/store/deletion/turn-slice-statements.ts'
import { createConversationErasureStatements } from '../../../src/store/deletion/erase-conversation.ts'
import { createTurnChainErasureStatements } from '../../../src/store/deletion/erase-turn-chain.ts'
import { expectIndexes } from '../expect-indexes.ts'

const erasure = { id: 'e7', tenant: 't', name: 'u7', user_id: 'u7', requested_at: 2000 }
const run = { erasureId: 'e7', runId: 'r7' }
const user = { ...run, tenant: 't', user: 'u7', nowMs: 7 }

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const sql = createErasureStatements(language)
  const page = { ...erasure, kind: 'user', afterMs: 5, afterId: '5', limit: 10 } as const
  const { queries } = createTurnSliceBuilder(language)({ turnIds: '["7","8"]', rows: 10 })
  return {
    insertOfUser: sql.insertOfUser(user),
    insertOfThread: sql.insertOfThread({ ...user, turnId: '7' }),
    insertOfConversation: sql.insertOfConversation({ ...user, id: 'conv_7' }),
    insertOfTurn: sql.insertOfTurn({ ...user, id: '7' }),
    insertOfMarkedTurn: sql.insertOfMarkedTurn({ ...user, id: '7' }),
    limitTimesOfThread: sql.limitTimesOfThread({ ...user, turnId: '7' }),
    claim: sql.claim(run),
    end: sql.end(erasure),
    turnsOfUser: sql.turnsOfUser(page),
    turnsOfThread: sql.turnsOfThread({ ...page, name: '7' }),
    releaseFetchedOfUser: sql.releaseFetchedOfUser(page),
    existing: sql.selectExisting({ turnIds: '["7"]' }),
    ...Object.fromEntries(
      sql.limitTimesOfUser.map((limit, at) => [`limitTimes${at}`, limit(user)]),
    ),
    ...Object.fromEntries(
      Object.entries(sql.deleteOfUser).map(([table, statement]) => [table, statement(page)]),
    ),
    ...Object.fromEntries(queries.map((query, at) => [`slice${at}`, query])),
    selectConversationTurns: createConversationErasureStatements(language).selectTurns({
      ...page,
      kind: 'conversation',
      name: 'conv_7',
      beforeThread: 'z',
      beforeId: 'z',
    }),
    selectChain: createTurnChainErasureStatements(language).selectChain({ tenant: 't', id: '7' }),
  }
}

async function fill(engine: Engine): Promise<void> {
  const inserts = [
    `insert into turns (id, tenant, user_id, thread, dialect, wire, account, model, state,
      created_at, used_at, request, conversation, parent, short_lived)
      select n, 't', 'u' || n, n, 'chat', 'w', 'a', 'm', 'complete', n, n, '{}', 'conv_' || n,
      n - 1, 0 from generate_series(1, 3000) n`,
    `insert into items (turn_id, tenant, side, position, type, body)
      select n, 't', 'out', p, 'message', repeat('x', 300)
      from generate_series(1, 3000) n, generate_series(1, 4) p`,
    `insert into conversations (id, tenant, user_id, metadata, created_at, head)
      select 'conv_' || n, 't', 'u' || n, '{}', 1, n from generate_series(1, 3000) n`,
    `insert into stream_events (turn_id, first_number, last_number, tenant, text)
      select n, 0, 1, 't', 'x' from generate_series(1, 3000) n`,
    `insert into media (id, tenant, mime, chars, created_at, used_at)
      select n, 't', 'image/png', 10, n, n from generate_series(1, 3000) n`,
    `insert into media_addresses (id, tenant, user_id, media_id, mime, fetched_at, used_at)
      select n, 't', 'u' || n, n, 'image/png', n, n from generate_series(1, 3000) n`,
  ]
  await engine.write(inserts.map((sql) => ({ name: null, sql, parameters: [] })))
}

expectIndexes({
  queriesFor,
  own: 'wanted|deletable|covered|found|listed|same|kept|limited|sized|CONSTANT|\\(subquery|\\(join',
  fill,
})
