/** Checks that no query about stored turns and conversations scans a whole table. */
import { createTurnManagementStatements } from '../../../src/store/turns/turn-management-statements.ts'
import { createConversationStatements } from '../../../src/store/conversations/conversation-statements.ts'
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { createItemLookupStatements } from '../../../src/store/turns/item-lookup-statements.ts'
import { expectIndexes } from '../expect-indexes.ts'

const owner = { tenant: 't', user: '' }
const key = { ...owner, id: 'x' }
const positions = [{ turnId: 'x', side: 'in', index: 0 }] as const
const listing = { ...owner, after: '', limit: 3, model: 'm', labels: [',"a":"b"'] }

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const archive = createTurnManagementStatements(language)
  const conversations = createConversationStatements(language)
  const items = createItemLookupStatements(language)
  const shape = { order: 'asc', labelCount: 1, hasModel: true } as const
  const time = { earliestMs: 0, latestMs: 1 }
  const holder = { ...key, turnId: 'x', leaseMs: 1, ...time }
  return {
    turnState: archive.turnState(key),
    turnItems: archive.turnItems(key),
    markDeleted: archive.markDeleted({ ...key, dialect: 'responses', nowMs: 1 }),
    deleteEvents: archive.deleteEvents(key),
    removeTurns: archive.deleteTurns(key),
    updateMetadata: archive.updateMetadata({ ...key, dialect: 'chat', metadata: '{}' }),
    contentTurns: archive.findTurnsByContent({ ...owner, hashes: ['h'] }),
    listedTurns: archive.listTurns(shape)(listing),
    listedItems: archive.listItems(shape)(listing),
    itemsById: items.itemsById({ ...owner, maxBodyBytes: 1, ids: ['x'] }),
    itemsByPosition: items.itemsByPosition({ ...owner, maxBodyBytes: 1, positions }),
    bodiesByPosition: items.bodiesByPosition({ ...owner, positions }),
    findConversation: conversations.findConversation(key),
    lockConversation: conversations.lockConversation(holder),
    moveHead: conversations.moveHead(key),
    deleteConversation: conversations.deleteConversation({ ...key, ...time }),
    hideItem: conversations.hideItem({ ...owner, turnId: 'x', side: 'in', index: 0 }),
  }
}

/** Inserts rows without statistics, as in the first minutes of a busy gateway. */
async function fill(engine: Engine): Promise<void> {
  const inserts = [
    `insert into turns (id, tenant, thread, dialect, wire, account, model, state, created_at, request,
      conversation, content_hash, parent)
      select n, 't', n, case n % 2 when 0 then 'chat' else 'responses' end, 'w', 'a', 'm', 'complete',
      n, '{}', 'conv_' || n, 'h' || n, n - 1 from generate_series(1, 3000) n`,
    `insert into items (turn_id, tenant, side, position, type, body, item_id)
      select n, 't', 'out', p, 'message', repeat('x', 300), n || '-' || p
      from generate_series(1, 3000) n, generate_series(1, 4) p`,
    `insert into conversations (id, tenant, metadata, created_at, head)
      select 'conv_' || n, 't', '{}', 1, n from generate_series(1, 3000) n`,
    `insert into stream_events (turn_id, first_number, last_number, tenant, text)
      select n, 0, 1, 't', 'x' from generate_series(1, 3000) n`,
  ]
  await engine.write(inserts.map((sql) => ({ name: null, sql, parameters: [] })))
}

expectIndexes({ queriesFor, own: 'deletable|kept|wanted|page', fill })
