/** Damage to markers by filters, editors and converters before a chat is sent. */
import type { ChatMessage } from './to-messages.ts'
import { MARKER } from './check-answer.ts'

export type Damage = (messages: readonly ChatMessage[]) => readonly ChatMessage[]

export const DAMAGES = {
  removed: inAnswers((text) => text.replaceAll(MARKER, '')),
  doubled: inAnswers((text) => text.replaceAll(MARKER, '$&\n\n$&')),
  'moved to the end': inAnswers((text) =>
    [text.replaceAll(MARKER, ''), ...(text.match(MARKER) ?? [])].join('\n\n'),
  ),
  'written as HTML': inAnswers((text) => text.replaceAll(MARKER, '&#91;$1&#93;: #')),
  'put in a fence': inAnswers((text) => text.replaceAll(MARKER, '```\n$&\n```')),
  'followed by CRLF': inAnswers((text) => text.replaceAll('\n', '\r\n')),
  'on one line with text': inAnswers((text) => text.replaceAll(/(\]: #)\n+/g, '$1 ')),
  'moved to another answer': moveToNextAnswer,
  'copied to the question': copyToQuestions,
} satisfies Record<string, Damage>

export type DamageName = keyof typeof DAMAGES

export const DAMAGE_NAMES = Object.keys(DAMAGES) as readonly DamageName[]

function inAnswers(change: (text: string) => string): Damage {
  return (messages) =>
    messages.map((message) =>
      message.role === 'assistant' && typeof message.content === 'string'
        ? { ...message, content: change(message.content) }
        : message,
    )
}

/** Moves the markers of each answer to the next one. */
function moveToNextAnswer(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const answers = messages.filter(({ role }) => role === 'assistant')
  const markers = answers.map(({ content }) => (content as string).match(MARKER) ?? [])
  let at = -1
  return inAnswers((text) => {
    at += 1
    const before = markers.at(at - 1) ?? []
    return [...before, text.replaceAll(MARKER, '').trim()].join('\n\n')
  })(messages)
}

/** Copies the marker of an answer into the next question, as a user who quotes it. */
function copyToQuestions(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const markers = messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content === 'string' ? (content.match(MARKER) ?? []) : [],
  )
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return messages.map((message, at) => {
    const { content } = message
    if (at !== last || typeof content !== 'string' || markers.length === 0) return message
    return { ...message, content: `${content}\n\n${markers.join('\n\n')}` }
  })
}
