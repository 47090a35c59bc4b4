/**
 * Locates the messages of a client's branch in its list, by the ids that the client sends for the new answer. Each
 * stored answer names its message and the message before it, so that they form a chain back to the start of the chat.
 * The list contains no ids. It has a user message before each message of the chain, so counting from the end assigns
 * each message to the answer segments between two user messages.
 *
 * If the user has deleted messages, the chain is longer than the list. If answers of the chat are unknown, e.g. because
 * another connection gave them, the chain ends early. The positions are then uncertain, except that of the last message.
 * An answer that the user has revised by a suggestion stands between the last question and the suggestion; no id names it,
 * and then all positions are uncertain.
 */
import type { AnswerInMessage, AnswerMessageIds } from '../../core/client/answer-message-ids.ts'
import type { Item } from '../../core/item.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import type { LocatedMessage } from '../located-message.ts'
import { findLowerBound } from '../map-and-list-helpers.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'

/** `answers` are the stored answers of the chat, the earliest first; `ids` are those of the new answer. */
export function locateMessages(
  items: readonly Item[],
  segments: readonly Segment[],
  answers: readonly AnswerInMessage[],
  ids: AnswerMessageIds,
): readonly LocatedMessage[] {
  if (answers.length === 0) return []
  const answersByMessage = Map.groupBy(answers, ({ message }) => message)
  const chain = followChain(ids.parent, answersByMessage)
  const questions = listQuestions(items)
  const starts = segments.map(({ start }) => start)
  const ranges = (
    findRanges(questions.all, starts, chain) ??
    findRanges(questions.withoutToolImages, starts, chain) ??
    guessRanges(questions.all, starts, chain)
  ).map((range, index) => ({ ...range, answers: chain.messages[index] ?? [] }))
  const ownRange = listSegmentsBetween(starts, questions.all.at(-1) ?? items.length, items.length)
  const own = { ...ownRange, answers: answersByMessage.get(ids.message) ?? [], isCertain: true }
  return [...ranges.toReversed(), own].flatMap((located) =>
    located.answers.length > 0
      ? [{ ...located, answers: dropDiscardedAnswers(located.answers) }]
      : [],
  )
}

interface MessageChain {
  /** The answers of each message, the last message first. */
  readonly messages: readonly (readonly AnswerInMessage[])[]
  /** True if the chain reaches the start of the chat. */
  readonly isComplete: boolean
}

function followChain(
  parent: string | null,
  answersByMessage: ReadonlyMap<string, readonly AnswerInMessage[]>,
): MessageChain {
  const messages: (readonly AnswerInMessage[])[] = []
  const visited = new Set<string>()
  let next = parent
  while (next !== null && next !== '') {
    const answers = answersByMessage.get(next) ?? []
    const [first] = answers
    if (first === undefined || visited.has(next)) return { messages, isComplete: false }
    visited.add(next)
    messages.push(answers)
    next = first.parent
  }
  return { messages, isComplete: next === '' }
}

/**
 * Lists the indexes of user messages. A client may send an image that a tool made as a user message after the tool's
 * output; such a message may also be a question after an answer that the user stopped.
 */
function listQuestions(items: readonly Item[]) {
  const all = [...items.keys()].filter((index) => isUserMessage(items[index]))
  const isOutput = (index: number): boolean => {
    const item = items[index]
    return item !== undefined && readToolCallIdentity(item)?.side === 'output'
  }
  return { all, withoutToolImages: all.filter((index) => !isOutput(index - 1)) }
}

type SegmentRange = Omit<LocatedMessage, 'answers'>

/** The indexes in the client's list at which its answer segments start, in ascending order. */
type SegmentStarts = readonly number[]

/**
 * Returns the range of each message of the chain, the last message first; null if the number of questions differs from
 * that of the chain. The chain has one message less than the list has questions, or two less if the user adds a
 * suggestion to the last question, for another answer to it. Then nothing is between these two.
 */
function findRanges(
  questions: readonly number[],
  starts: SegmentStarts,
  { messages, isComplete }: MessageChain,
): readonly SegmentRange[] | null {
  const suggestions = questions.length - messages.length - 1
  const [question = 0, lastQuestion = 0] = questions.slice(-2)
  // An empty answer counts, too: many clients send an empty message for it.
  const hasAnswerAtEnd = lastQuestion > question + 1
  const isAligned = suggestions === 0 ? hasAnswerAtEnd : suggestions === 1 && !hasAnswerAtEnd
  if (!isComplete || (!isAligned && messages.length > 0)) return null
  return messages.map((_, index) => ({
    ...rangeBetween(questions, questions.length - 2 - suggestions - index, starts),
    isCertain: true,
  }))
}

/**
 * Returns the probable ranges. The answer before the last question is that of the last message of the chain, unless the
 * complete chain has one message too few: that answer is then probably the one to be revised.
 */
function guessRanges(
  questions: readonly number[],
  starts: SegmentStarts,
  { messages, isComplete }: MessageChain,
): readonly SegmentRange[] {
  const isRevised = isComplete && questions.length === messages.length + 2
  const last = questions.length - (isRevised ? 3 : 2)
  return messages.map((_, index) => ({
    ...rangeBetween(questions, last - index, starts),
    isCertain: index === 0 && !isRevised,
  }))
}

function rangeBetween(
  questions: readonly number[],
  index: number,
  starts: SegmentStarts,
): Omit<SegmentRange, 'isCertain'> {
  const [from, to] = [questions[index], questions[index + 1]]
  return from === undefined || to === undefined ? NOWHERE : listSegmentsBetween(starts, from, to)
}

const NOWHERE = { start: 0, end: 0, from: 0, to: 0 }

/** Returns the indexes of the segments between two indexes of the list, e.g. between two questions. */
function listSegmentsBetween(starts: SegmentStarts, from: number, to: number) {
  const start = findLowerBound(starts, from + 1)
  return { start, end: Math.max(start, findLowerBound(starts, to + 1)), from: from + 1, to }
}

/**
 * Drops answers that the client has discarded, e.g. after an error: a later answer of the message then starts where
 * they had started.
 */
function dropDiscardedAnswers(answers: readonly AnswerInMessage[]): readonly AnswerInMessage[] {
  let kept: AnswerInMessage[] = []
  let lastSegment = -1
  for (const answer of answers) {
    const isRestart = !answer.continues && answer.segment <= lastSegment
    if (isRestart) kept = kept.filter(({ segment }) => segment < answer.segment)
    kept.push(answer)
    lastSegment = isRestart ? answer.segment : Math.max(lastSegment, answer.segment)
  }
  return kept
}
