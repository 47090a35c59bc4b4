import { describe } from 'vitest'
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { createDeletionLogStatements } from '../../../src/store/deletion/deletion-log-statements.ts'
import { createMemoryLayerStatements } from '../../../src/store/memory-layers/memory-layer-statements.ts'
import {
  createSummaryStatements,
  type NewSummaryRow,
} from '../../../src/store/summaries/summary-statements.ts'
import type { NewLayerVersionRow } from '../../../src/store/memory-layers/memory-layer-statements.ts'
import { testFinalDeletion } from '../contract-final-deletion.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'
import { expectIndexes } from '../expect-indexes.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('final deletion on %s', (_, open, encryption) =>
  testFinalDeletion(open, encryption),
)

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const sql = createDeletionLogStatements(language)
  const key = { tenant: 't', user: 'u7', nowMs: 7 }
  const work = { id: '7', jobStartedAtMs: 7, user_id: 'u7', sourceId: '7' }
  const summary = {
    ...work,
    turnId: '7',
    parentTurnId: '6',
    conversation: 'conv_7',
  } as Partial<NewSummaryRow> as NewSummaryRow
  return {
    logUser: sql.logUser(key),
    logThread: sql.logThread({ ...key, turnId: '7' }),
    logThreadOfDeletedTurn: sql.logThreadOfDeletedTurn({ ...key, id: '7' }),
    logConversation: sql.logConversation({ ...key, id: 'conv_7' }),
    removeOldEntries: sql.removeOldEntries(key),
    removeDeletedFact: sql.removeFact(work),
    removeDeletedSummary: createSummaryStatements(language).removeIfSourceDeleted(summary),
    removeDeletedVersion: createMemoryLayerStatements(language).removeIfSourceDeleted({
      ...work,
      parentTurnId: '6',
    } as NewLayerVersionRow),
  }
}

async function fill(engine: Engine): Promise<void> {
  const inserts = [
    `insert into forgotten (tenant, name, forgotten_at)
      select 't', n, n from generate_series(1, 3000) n`,
    `insert into turns (id, tenant, thread, dialect, wire, account, model, state, created_at,
      used_at, request, short_lived)
      select n, 't', n, 'chat', 'w', 'a', 'm', 'complete', n, n, '{}', 0
      from generate_series(1, 3000) n`,
  ]
  await engine.write(inserts.map((sql) => ({ name: null, sql, parameters: [] })))
}

expectIndexes({ queriesFor, own: 'found|CONSTANT ROW', fill })
