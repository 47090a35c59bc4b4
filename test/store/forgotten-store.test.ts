import { describe } from 'vitest'
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'
import { createDeletionLogStatements } from '../../src/store/deletion/deletion-log-statements.ts'
import { createLayerStatements } from '../../src/store/memory-layers/memory-layer-statements.ts'
import {
  createSummaryStatements,
  type NewSummaryRow,
} from '../../src/store/summaries/summary-statements.ts'
import type { NewLayerVersionRow } from '../../src/store/memory-layers/memory-layer-statements.ts'
import { forgottenContract } from './contract-forgotten.ts'
import { SEALED_OR_NOT } from './engines.ts'
import { followIndexes } from './query-plans.ts'

describe.each(SEALED_OR_NOT)('forgetting on %s', (_, open, vault) => forgottenContract(open, vault))

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const sql = createDeletionLogStatements(language)
  const key = { tenant: 't', user: 'u7', nowMs: 7 }
  const work = { id: '7', begunAtMs: 7, user_id: 'u7', of: '7' }
  const summary = {
    ...work,
    turn: '7',
    parent: '6',
    conversation: 'conv_7',
  } as Partial<NewSummaryRow> as NewSummaryRow
  return {
    noteUser: sql.noteUser(key),
    noteThread: sql.noteThread({ ...key, turnId: '7' }),
    noteDeleted: sql.noteDeleted({ ...key, id: '7' }),
    noteConversation: sql.noteConversation({ ...key, id: 'conv_7' }),
    removeNotes: sql.removeNotes(key),
    removeForgottenFact: sql.removeFact(work),
    removeForgottenSummary: createSummaryStatements(language).removeForgotten(summary),
    removeForgottenVersion: createLayerStatements(language).removeForgotten({
      ...work,
      parent: '6',
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

followIndexes({ queriesFor, own: 'found|CONSTANT ROW', fill })
