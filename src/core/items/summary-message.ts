/**
 * What a model is told of a summary: a message of its own, in front of the turns that it does not stand
 * for. It is made anew for each request and never kept, and its words depend on the summary alone.
 */
import type { Item, Message } from '../item.ts'

export interface SummaryContent {
  readonly text: string
  /** Word for word. */
  readonly facts: readonly string[]
}

export function createHistorySummaryMessage({ text, facts }: SummaryContent): Message {
  return {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text: HEADER + formatHistorySummary({ text, facts }) }],
    native: { backstory: { summary: true } },
  }
}

/** As it is told, and as whoever goes on from it is given it. */
export function formatHistorySummary({ text, facts }: SummaryContent): string {
  if (facts.length === 0) return text
  const list = `${FACTS_HEADING}\n${facts.map((fact) => `- ${fact}`).join('\n')}`
  return text === '' ? list : `${list}\n\n${text}`
}

/** A client cannot say this of an item, so it is ours. */
export function isHistorySummary(item: Item | undefined): boolean {
  return item?.native?.['backstory']?.['summary'] === true
}

/** Under which a writer lists what is to be kept word for word. */
export const FACTS_HEADING = '## Facts'

const HEADER =
  '[Summary of the earlier part of this conversation. It stands for everything that was said and done before the messages below, by the user as well; they are not shown again. It is background: what the user says below goes before it.]\n\n'
