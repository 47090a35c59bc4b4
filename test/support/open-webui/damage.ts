/** What filters, editors and converters do to the markers in a chat before it is sent. */
import type { ChatMessage } from './to-messages.ts'
import { MARKER } from './watch.ts'

export type Damage = (messages: readonly ChatMessage[]) => readonly ChatMessage[]

export const DAMAGES = {
  removed: inAnswers((text) => text.replaceAll(MARKER, '')),
  doubled: inAnswers((text) => text.replaceAll(MARKER, '$&\n\n$&')),
  'at the end': inAnswers((text) =>
    [text.replaceAll(MARKER, ''), ...(text.match(MARKER) ?? [])].join('\n\n'),
  ),
  'written as HTML': inAnswers((text) => text.replaceAll(MARKER, '&#91;$1&#93;: #')),
  'in a fence': inAnswers((text) => text.replaceAll(MARKER, '```\n$&\n```')),
  'with CRLF': inAnswers((text) => text.replaceAll('\n', '\r\n')),
  'on one line with text': inAnswers((text) => text.replaceAll(/(\]: #)\n+/g, '$1 ')),
  'in another answer': movedOn,
  'in the question': inQuestions,
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

/** Every answer gets the markers of the one before it. */
function movedOn(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const answers = messages.filter(({ role }) => role === 'assistant')
  const markers = answers.map(({ content }) => (content as string).match(MARKER) ?? [])
  let at = -1
  return inAnswers((text) => {
    at += 1
    const before = markers.at(at - 1) ?? []
    return [...before, text.replaceAll(MARKER, '').trim()].join('\n\n')
  })(messages)
}

/** Somebody copied an answer into the next question, marker and all. */
function inQuestions(messages: readonly ChatMessage[]): readonly ChatMessage[] {
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
