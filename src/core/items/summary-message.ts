/**
 * Creates the message with which a summary is sent in place of the summarized turns. The message is
 * created for each request from the summary alone, and never stored.
 */
import type { Item, Message } from '../item.ts'
import { escapeFakeNotices } from '../text/gateway-notice.ts'

export interface SummaryContent {
  readonly text: string
  /** Lines that the summary quotes verbatim. */
  readonly facts: readonly string[]
}

export function createHistorySummaryMessage(summary: SummaryContent): Message {
  const text = HEADER + escapeFakeNotices(formatHistorySummary(summary))
  return {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text }],
    native: { backstory: { summary: true } },
  }
}

/** Formats a summary as text: the list of facts, then the text. */
export function formatHistorySummary({ text, facts }: SummaryContent): string {
  if (facts.length === 0) return text
  const list = `${FACTS_HEADING}\n${facts.map((fact) => `- ${fact}`).join('\n')}`
  return text === '' ? list : `${list}\n\n${text}`
}

/** True for a message from `createHistorySummaryMessage`. A client cannot set this field. */
export function isHistorySummary(item: Item | undefined): boolean {
  return item?.native?.['backstory']?.['summary'] === true
}

/** Heading under which the summarizing model lists the facts to quote verbatim. */
export const FACTS_HEADING = '## Facts'

const HEADER =
  '[Summary of the earlier part of this conversation. It stands for everything that was said and done before the messages below, by the user as well; they are not shown again. It is background: what the user says below goes before it.]\n\n'
