/** Locates the answer to a request in the message to which the client adds it. */
import type { NewAnswerMessage } from '../../core/client/answer-message-ids.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { Item } from '../../core/item.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Segment } from '../../recall/split-and-fingerprint-segments.ts'

/** `items` are all items before the answer. Returns null if the client sends no ids of its messages. */
export function locateNewAnswer(
  { client: { answerMessage: ids } }: Pick<ClientRequest, 'client'>,
  items: readonly Item[],
  segments: readonly Segment[],
): NewAnswerMessage | null {
  if (ids === null) return null
  const question = items.findLastIndex(isUserMessage)
  const earlierCount = segments.filter(({ start }) => start > question).length
  const last = segments.at(-1)
  const continues = last !== undefined && last.start > question && last.end === items.length
  return { ids, segment: continues ? earlierCount - 1 : earlierCount, continues }
}
