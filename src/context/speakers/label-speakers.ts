/**
 * Tells the model who speaks. In its own role is said what it says itself: with a persona everything
 * by the assistants but what is another's; where it plays an author, what that one said and nothing
 * else. All others speak as users, each by name.
 *
 * A name stands before the text (`Ann: hello`), or in the field `name` where the wire has one. It is
 * never said twice. The tool calls of another assistant stay as they are, because nobody but the model
 * can make calls; reasoning that led to the words of another goes.
 *
 * Each message is judged by itself, so that more of them change none. It comes when the groups are
 * whole, and before anything is counted by rounds.
 */
import type { SpeakerRules } from '../../core/context-policy.ts'
import type { Item, Message, Part } from '../../core/item.ts'
import {
  authorOf,
  matchesAuthor,
  setGatewayField,
  type ItemAuthor,
} from '../../core/items/author-time-and-reset-fields.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import { isTextWithoutNotice } from '../../core/text/gateway-notice.ts'
import { sanitizeName, MAX_NAME_CHARS, truncateName } from '../../core/text/sanitize-name.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export type SpeakerLabelOptions = Pick<SpeakerRules, 'persona' | 'actAs'> & {
  readonly names: 'prefix' | 'name' | 'none'
  /** Whether what the assistant said is given its speaker's name as well. */
  readonly ofAssistants: boolean
}

/** `hasNames`: whether the wire has a field for who speaks. */
export function resolveSpeakerLabelOptions(
  { names, persona, actAs }: SpeakerRules,
  hasNames: boolean,
): SpeakerLabelOptions {
  const way = hasNames ? 'name' : names === 'auto' ? 'prefix' : 'none'
  const isSaid = names === 'prefix' || names === 'none'
  return { names: isSaid ? names : way, ofAssistants: names === 'prefix', persona, actAs }
}

export function labelSpeakers(telling: SpeakerLabelOptions): Transform {
  return {
    name: 'tell-speakers',
    ...(telling.actAs === null ? { needs: ITEM_TRAITS.author } : {}),
    prefixStability: 'none',
    run(items) {
      // Where nobody is named, nobody has to be told.
      const isSaid = telling.actAs !== null || items.some((item) => authorOf(item) !== null)
      if (!isSaid) return { items, notes: [] }
      const told = items.map((item) => toldItem(item, telling))
      const isDisconnected = thoughtsOfOthers(items, told)
      const notes: Note[] = []
      const kept: Item[] = []
      for (const [at, item] of items.entries()) {
        const { item: fate, why } = told[at] ?? { item, why: '' }
        if (isDisconnected[at] === true) {
          notes.push({ did: 'dropped', at, why: 'reasoning-of-another-speaker' })
          continue
        }
        kept.push(fate)
        if (fate !== item) notes.push({ did: 'changed', at, why })
      }
      return notes.length === 0 ? { items, notes } : { items: kept, notes }
    },
  }
}

interface Told {
  readonly item: Item
  readonly why: string
}

function toldItem(item: Item, telling: SpeakerLabelOptions): Told {
  if (item.type !== 'message') return { item, why: '' }
  const { role: before } = item
  if (before !== 'user' && before !== 'assistant') return { item, why: '' }
  const author = authorOf(item)
  const role = roleOf(before, author, telling)
  // Nearly all messages are nobody's in particular.
  if (author === null && role === before) return { item, why: '' }
  const isTurned = role !== before
  const why = telling.names === 'none' ? 'speaker-not-named' : 'speaker-named'
  const said = named(isTurned ? turnedTo(role, item) : item, author, isTurned, telling)
  return { item: said, why: isTurned ? TOLD_AS[role] : why }
}

const TOLD_AS = { user: 'told-as-user', assistant: 'told-as-assistant' } as const

type Role = 'user' | 'assistant'

function roleOf(
  role: Role,
  author: ItemAuthor | null,
  { persona, actAs }: SpeakerLabelOptions,
): Role {
  if (actAs !== null) return author !== null && matchesAuthor(author, actAs) ? 'assistant' : 'user'
  if (role === 'user' || persona === null || author === null) return role
  return matchesAuthor(author, persona) ? role : 'user'
}

function turnedTo(role: Role, message: Message): Message {
  const { phase: _phase, ...rest } = message
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  const content = message.content.map((part): Part => {
    if (part.type === 'refusal') return { type, text: part.refusal }
    if (part.type !== 'input_text' && part.type !== 'output_text') return part
    return { type, text: part.text }
  })
  return { ...rest, role, content }
}

function named(
  message: Message,
  author: ItemAuthor | null,
  isTurned: boolean,
  { names, ofAssistants, persona, actAs }: SpeakerLabelOptions,
): Message {
  if (names === 'none') return withoutFieldName(message, author)
  const isUser = message.role === 'user'
  // What the assistant said by itself is the persona's, if that is not who the model speaks as now.
  const speaker = author ?? (isUser && isTurned && persona !== null ? called(persona) : null)
  if (speaker === null) return message
  if (names === 'name') return withFieldName(message, speaker)
  const isNamed = isUser || (ofAssistants && persona === null && actAs === null)
  return isNamed ? withSpeaker(message, author, formatSpeakerLabel(speaker)) : message
}

function called(name: string): ItemAuthor {
  return { id: null, name }
}

/** Before the first words of it, and nowhere else. */
function withSpeaker(message: Message, author: ItemAuthor | null, label: string): Message {
  if (label === '') return message
  const bare = withoutFieldName(message, author)
  if (saysNothing(bare)) return bare
  const type = message.role === 'assistant' ? 'output_text' : 'input_text'
  const at = bare.content.findIndex(isOwnWords)
  const part = bare.content[at]
  if (part === undefined || !('text' in part)) {
    return { ...bare, content: [{ type, text: `${label}:` }, ...bare.content] }
  }
  const text = prefixWithSpeakerLabel(label, part.text)
  if (text === part.text) return bare
  return { ...bare, content: bare.content.with(at, { type: part.type, text }) }
}

/** Of nothing nobody has to be told who said it. */
function saysNothing({ content }: Message): boolean {
  return content.every(isEmpty)
}

function isEmpty(part: Part): boolean {
  return 'text' in part && part.text === ''
}

/** What stands for a medium is said by the gateway. */
function isOwnWords(part: Part): boolean {
  return isTextWithoutNotice(part) && part.text !== ''
}

function withFieldName(message: Message, author: ItemAuthor): Message {
  const { chat } = message.native ?? {}
  // What a client has written in its own language stays as it is.
  if (chat?.['name'] === author.name && author.name !== null) return message
  const name = formatSpeakerField(author)
  if (name === '' || chat?.['name'] === name) return message
  return { ...message, native: { ...message.native, chat: { ...chat, name } } }
}

/** The name goes, but who has said it is still known. */
function withoutFieldName(message: Message, author: ItemAuthor | null): Message {
  const { chat, ...others } = message.native ?? {}
  if (chat?.['name'] === undefined) return message
  const { name: _name, ...rest } = chat
  const native = Object.keys(rest).length === 0 ? others : { ...others, chat: rest }
  const bare: Message = { ...message, native }
  return author === null ? bare : setGatewayField(bare, { author: known(author) })
}

function known({ id, name }: ItemAuthor): JsonObject {
  return { ...(id === null ? {} : { id }), ...(name === null ? {} : { name }) }
}

/** Of each item, whether it is reasoning that led to words which are told as another's. */
function thoughtsOfOthers(items: readonly Item[], told: readonly Told[]): readonly boolean[] {
  const gone = items.map(() => false)
  for (let at = items.length - 2; at >= 0; at -= 1) {
    const isLed = gone[at + 1] === true || told[at + 1]?.why === TOLD_AS.user
    gone[at] = items[at]?.type === 'reasoning' && isLed
  }
  return gone
}

/** Empty if nothing is left of it. */
export function formatSpeakerLabel({ name, id }: ItemAuthor): string {
  const label = sanitizeName(name ?? id ?? '', UNFIT)
  return label.length <= MAX_NAME_CHARS ? label : truncateName(label)
}

/** Brackets, what ends a label or a line, and what is not seen. */
const UNFIT = /[[\]<>{}()|:：\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** OpenAI takes no blanks there, and neither `<`, `|`, `\` nor `/`. */
export function formatSpeakerField(author: ItemAuthor): string {
  return formatSpeakerLabel(author).replace(/[\s\\/]+/g, '_')
}

/** The text as said by somebody, unless it says so already. */
export function prefixWithSpeakerLabel(label: string, text: string): string {
  const begin = `${label}:`
  return label === '' || text.trimStart().startsWith(begin) ? text : `${begin} ${text}`
}
