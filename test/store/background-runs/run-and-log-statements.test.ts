/** Checks that no query about background runs scans a whole table. */
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { createReplicaAndOrphanStatements } from '../../../src/store/background-runs/replica-and-orphan-statements.ts'
import { createRunAndLogStatements } from '../../../src/store/background-runs/run-and-log-statements.ts'
import { encodeOutputItems } from '../../../src/store/turns/encode-turn-rows.ts'
import { NO_ENCRYPTION } from '../../../src/store/encryption/decrypt-rows.ts'
import { expectIndexes } from '../expect-indexes.ts'
import { assistant, numberItems } from '../turns.ts'

const hold = { id: 'x', tenant: 't', replicaId: 'r' }
const time = { earliestMs: 0, latestMs: 1 }
const log = { id: 'x', tenant: 't', user: '', fromEvent: 7, ...time }
const events = { turn_id: 'x', tenant: 't', first_number: 7, last_number: 8, text: '' }
const ending = {
  state: 'complete',
  wire: 'demo',
  account: 'a',
  model: 'm',
  ended_at: 1,
  usage: null,
  failure: null,
  finish: null,
  served_model: null,
  content_hash: null,
  prefix_hash: null,
  fingerprint: null,
  reasoning_refused_by: null,
}

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const runs = createRunAndLogStatements(language)
  const replicas = createReplicaAndOrphanStatements(language)
  const [item] = encodeOutputItems(
    { id: 'x', tenant: 't', user: null },
    numberItems([assistant('hi')]),
    NO_ENCRYPTION.cipher,
  )
  if (item === undefined) throw new Error('There is an item.')
  return {
    holdRun: runs.selectOwnedRun(hold),
    startRun: runs.startRun(hold),
    requeueRun: runs.requeueRun(hold),
    insertEvents: runs.insertEvents({ ...events, ...hold }),
    insertItem: runs.insertItem({ ...item.row, ...hold }),
    endRun: runs.endRun({ ...ending, ...hold }),
    claimRun: runs.claimRun({ ...hold, newOwner: 's' }),
    logHead: runs.selectRunState(log),
    logGroups: runs.selectLogGroups(log),
    outPositions: runs.selectOutputPositions(log),
    ownedRuns: replicas.selectOwnedRuns({ replicaId: 'r', ids: ['x'] }),
    orphanedRuns: replicas.selectOrphanedRuns({ afterTurnId: '', ...time }),
    deleteOldLogs: replicas.deleteOldLogs({ beforeTurnId: 'x' }),
  }
}

// Unfinished turns are few and have an index of their own.
expectIndexes({ queriesFor, isShort: (step) => /Scan (on|using) turns_by_state/.test(step) })
