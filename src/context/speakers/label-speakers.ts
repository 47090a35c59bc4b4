/**
 * Labels messages with their authors. Only the model's messages keep or get the role `assistant`: with a
 * persona all assistant messages but those of other authors; with `act_as` only the messages of the author
 * whom the model plays. All other messages get the role `user`, with the author's name.
 *
 * The name is put before the text (`Ann: hello`), or into the field `name` if the wire has one; never twice.
 * Tool calls of another assistant keep their role, because only the model can make calls. Reasoning that
 * led to a message of another author is dropped.
 *
 * Each message is labeled independently of the others, so that a new message changes no earlier one. The transform
 * runs when groups are complete, and before anything is counted by rounds.
 */
import type { SpeakerRules } from '../../core/context-policy.ts'
import type { Item, Message, Part } from '../../core/item.ts'
import {
  authorOf,
  matchesAuthor,
  setGatewayFields,
  type ItemAuthor,
} from '../../core/items/author-time-and-reset-fields.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { isTextWithoutNotice } from '../../core/text/gateway-notice.ts'
import { sanitizeName, MAX_NAME_CHARS, truncateName } from '../../core/text/sanitize-name.ts'
import { editItems, type ItemEdit } from '../edit-items.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export type SpeakerLabelOptions = Pick<SpeakerRules, 'persona' | 'actAs'> & {
  readonly names: 'prefix' | 'name' | 'none'
  /** True if assistant messages get their author's name, too. */
  readonly labelsAssistants: boolean
}

/** `hasNames`: whether the wire has a field for the author's name. */
export function resolveSpeakerLabelOptions(
  { names, persona, actAs }: SpeakerRules,
  hasNames: boolean,
): SpeakerLabelOptions {
  const automatic = hasNames ? 'name' : names === 'auto' ? 'prefix' : 'none'
  const isFixed = names === 'prefix' || names === 'none'
  return {
    names: isFixed ? names : automatic,
    labelsAssistants: names === 'prefix',
    persona,
    actAs,
  }
}

export function labelSpeakers(options: SpeakerLabelOptions): Transform {
  return {
    name: 'tell-speakers',
    ...(options.actAs === null ? { needs: ITEM_TRAITS.author } : {}),
    prefixStability: 'none',
    run(items) {
      // Without authors there is nothing to label.
      const isNeeded = options.actAs !== null || items.some((item) => authorOf(item) !== null)
      if (!isNeeded) return { items, notes: [] }
      const edits = items.map((item) => labelItem(item, options))
      const isForeignReasoning = findForeignReasoning(items, edits)
      return editItems(items, (_, index) =>
        isForeignReasoning[index] === true
          ? { item: null, why: 'reasoning-of-another-speaker' }
          : (edits[index] ?? null),
      )
    },
  }
}

function labelItem(item: Item, options: SpeakerLabelOptions): ItemEdit | null {
  if (item.type !== 'message') return null
  const { role: original } = item
  if (original !== 'user' && original !== 'assistant') return null
  const author = authorOf(item)
  const role = chooseRole(original, author, options)
  // Most messages have no author.
  if (author === null && role === original) return null
  const isTurned = role !== original
  const message = isTurned ? changeRole(role, item) : item
  const why = options.names === 'none' ? 'speaker-not-named' : 'speaker-named'
  return {
    item: labelMessage(message, author, isTurned, options),
    why: isTurned ? ROLE_CHANGE_CODES[role] : why,
  }
}

const ROLE_CHANGE_CODES = { user: 'told-as-user', assistant: 'told-as-assistant' } as const

type SpeakerRole = 'user' | 'assistant'

function chooseRole(
  role: SpeakerRole,
  author: ItemAuthor | null,
  { persona, actAs }: SpeakerLabelOptions,
): SpeakerRole {
  if (actAs !== null) return author !== null && matchesAuthor(author, actAs) ? 'assistant' : 'user'
  if (role === 'user' || persona === null || author === null) return role
  return matchesAuthor(author, persona) ? role : 'user'
}

function changeRole(role: SpeakerRole, message: Message): Message {
  const { phase: _phase, ...rest } = message
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  const content = message.content.map((part): Part => {
    if (part.type === 'refusal') return { type, text: part.refusal }
    if (part.type !== 'input_text' && part.type !== 'output_text') return part
    return { type, text: part.text }
  })
  return { ...rest, role, content }
}

function labelMessage(
  message: Message,
  author: ItemAuthor | null,
  isTurned: boolean,
  { names, labelsAssistants, persona, actAs }: SpeakerLabelOptions,
): Message {
  if (names === 'none') return removeNameField(message, author)
  const isUser = message.role === 'user'
  // An assistant message without an author is the persona's, also when the model now plays someone else.
  const isPersona = isUser && isTurned && persona !== null
  const speaker = author ?? (isPersona ? { id: null, name: persona } : null)
  if (speaker === null) return message
  if (names === 'name') return setNameField(message, speaker)
  const isLabeled = isUser || (labelsAssistants && persona === null && actAs === null)
  return isLabeled ? prependLabel(message, author, formatSpeakerLabel(speaker)) : message
}

/** Puts the label before the first text of the message that is no notice. */
function prependLabel(message: Message, author: ItemAuthor | null, label: string): Message {
  if (label === '') return message
  const unnamed = removeNameField(message, author)
  const isEmpty = unnamed.content.every((part) => 'text' in part && part.text === '')
  if (isEmpty) return unnamed
  const type = message.role === 'assistant' ? 'output_text' : 'input_text'
  const index = unnamed.content.findIndex((part) => isTextWithoutNotice(part) && part.text !== '')
  const part = unnamed.content[index]
  if (part === undefined || !('text' in part)) {
    return { ...unnamed, content: [{ type, text: `${label}:` }, ...unnamed.content] }
  }
  const text = prefixWithSpeakerLabel(label, part.text)
  if (text === part.text) return unnamed
  return { ...unnamed, content: unnamed.content.with(index, { type: part.type, text }) }
}

function setNameField(message: Message, author: ItemAuthor): Message {
  const { chat } = message.native ?? {}
  // A client's own name stays unchanged, in whatever script it is written.
  if (chat?.['name'] === author.name && author.name !== null) return message
  const name = formatSpeakerField(author)
  if (name === '' || chat?.['name'] === name) return message
  return { ...message, native: { ...message.native, chat: { ...chat, name } } }
}

/** Moves the name from the field that is sent to the gateway's `author` field, which is not. */
function removeNameField(message: Message, author: ItemAuthor | null): Message {
  const { chat, ...others } = message.native ?? {}
  if (chat?.['name'] === undefined) return message
  const { name: _name, ...rest } = chat
  const native = Object.keys(rest).length === 0 ? others : { ...others, chat: rest }
  const unnamed: Message = { ...message, native }
  return author === null ? unnamed : setGatewayFields(unnamed, { author: toAuthorField(author) })
}

function toAuthorField({ id, name }: ItemAuthor): JsonObject {
  return { ...(id === null ? {} : { id }), ...(name === null ? {} : { name }) }
}

/** Returns, for each item, whether it is reasoning that led to a message which now has the role `user`. */
function findForeignReasoning(
  items: readonly Item[],
  edits: readonly (ItemEdit | null)[],
): readonly boolean[] {
  const isForeign = items.map(() => false)
  for (let index = items.length - 2; index >= 0; index -= 1) {
    const isNextForeign =
      isForeign[index + 1] === true || edits[index + 1]?.why === ROLE_CHANGE_CODES.user
    isForeign[index] = items[index]?.type === 'reasoning' && isNextForeign
  }
  return isForeign
}

/** Returns the cleaned name, or the id without a name; empty if no allowed character remains. */
export function formatSpeakerLabel({ name, id }: ItemAuthor): string {
  const label = sanitizeName(name ?? id ?? '', UNSAFE_IN_LABEL)
  return label.length <= MAX_NAME_CHARS ? label : truncateName(label)
}

/** Brackets, separators of labels and lines, and invisible characters. */
const UNSAFE_IN_LABEL = /[[\]<>{}()|:：\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** OpenAI's field `name` allows no white space and none of `<`, `|`, `\` and `/`. */
export function formatSpeakerField(author: ItemAuthor): string {
  return formatSpeakerLabel(author).replace(/[\s\\/]+/g, '_')
}

/** Returns `Ann: hello` for the label `Ann`; a text that begins with `Ann:` already stays the same. */
export function prefixWithSpeakerLabel(label: string, text: string): string {
  const begin = `${label}:`
  return label === '' || text.trimStart().startsWith(begin) ? text : `${begin} ${text}`
}
