/**
 * Finds stored answers by the ids that Open WebUI gives to its chats and messages. Only answers of the requesting
 * owner are found.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'

/**
 * Returns the turn ids of a chat's answers, the earliest first. Answers of plain text have no turn, unless something
 * before them had changed.
 */
export async function findTurnsOfChat(
  chat: string,
  owner: Caller,
  { answerMessages }: Ports<'answerMessages'>,
): Promise<readonly string[]> {
  const answers = await queryStoreOrThrow(() => answerMessages.listAnswers(owner, chat))
  return answers.flatMap(({ id, hasTurn }) => (hasTurn ? [id] : []))
}

/**
 * Returns the turn id of a message's latest answer; null if none is stored. A message has several answers if the client
 * ran tools for it.
 */
export async function findTurnOfMessage(
  { chat, message }: { readonly chat: string; readonly message: string },
  owner: Caller,
  { answerMessages }: Ports<'answerMessages'>,
): Promise<string | null> {
  const answers = await queryStoreOrThrow(() => answerMessages.listAnswers(owner, chat))
  return answers.findLast((answer) => answer.hasTurn && answer.message === message)?.id ?? null
}
