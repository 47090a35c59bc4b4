/** SQL implementation of `AnswerMessageStore` for any engine. Each method takes one round trip. */
import {
  decodeColumnText,
  decodeNullableColumnText,
  encodeColumnText,
  encodeNullableColumn,
} from '../database/encode-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { AnswerMessageRow } from '../database/table-row-types.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { encodeOwner } from '../owner.ts'
import type { NewTurn } from '../turns/turn-store-interface.ts'
import { createAnswerMessageStatements } from './answer-message-statements.ts'
import {
  MAX_ANSWERS_OF_CHAT,
  type AnswerMessageStore,
  type PlainAnswer,
} from './answer-message-store-interface.ts'

export function createAnswerMessageStore(engine: Engine): AnswerMessageStore {
  const sql = createAnswerMessageStatements(engine.language)
  return {
    async addPlainAnswer(answer) {
      const row = encodeAnswerMessage(answer, null)
      await writeAfterLock(engine, 'turnCreation', row.tenant, [sql.insert(row)], 'kill')
    },
    async listAnswers(owner, chat) {
      const key = { ...encodeOwner(owner), chat: encodeColumnText(chat) }
      const [rows = []] = await engine.read([
        sql.selectOfChat({ ...key, limit: MAX_ANSWERS_OF_CHAT }),
      ])
      return (rows as readonly AnswerMessageRow[]).toReversed().map((row) => ({
        id: decodeColumnText(row.id),
        message: decodeColumnText(row.message),
        parent: decodeNullableColumnText(row.parent),
        segment: row.segment,
        continues: row.continues === 1,
        hasTurn: row.turn_id !== null,
        usedAtMs: row.used_at,
      }))
    },
    async touchAnswers(tenant, ids, nowMs) {
      const list = JSON.stringify(ids.map(encodeColumnText))
      await engine.write(
        [sql.touch({ tenant: encodeColumnText(tenant), ids: list, nowMs })],
        'kill',
      )
    },
  }
}

/** Returns the row of a turn's message; null if the client gave no ids. */
export function encodeMessageOfTurn(turn: NewTurn): AnswerMessageRow | null {
  const { answerMessage = null } = turn
  return answerMessage === null
    ? null
    : encodeAnswerMessage({ ...turn, ...answerMessage }, encodeColumnText(turn.id))
}

function encodeAnswerMessage(
  { id, tenant, user, ids, segment, continues, createdAtMs, isTemporary = false }: PlainAnswer,
  turnId: string | null,
): AnswerMessageRow {
  return {
    id: encodeColumnText(id),
    tenant: encodeColumnText(tenant),
    user_id: encodeNullableColumn(user),
    chat: encodeColumnText(ids.chat),
    message: encodeColumnText(ids.message),
    parent: encodeNullableColumn(ids.parent),
    segment,
    continues: continues ? 1 : 0,
    turn_id: turnId,
    created_at: createdAtMs,
    used_at: createdAtMs,
    short_lived: isTemporary ? 1 : 0,
  }
}
