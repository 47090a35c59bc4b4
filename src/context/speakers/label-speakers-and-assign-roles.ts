/**
 * Labels messages with the names of their authors, and gives the role `assistant` only to messages of the model. With a
 * persona (the model's name), these are the assistant messages without an author or with this name. With `act_as`,
 * these are the messages of the author whom the model plays. All other messages of users and assistants get the role
 * `user`. Without persona and `act_as`, roles stay unchanged.
 *
 * The name is put before the text (`Ann: hello`), or into the field `name` if the wire has one. A text that already
 * begins with the name gets no second label. Tool calls of another assistant keep their role, because only the model
 * can make calls. Reasoning that led to a message of another author is dropped.
 *
 * The label of a message does not depend on other messages, so a new message changes no earlier one.
 */
import type { SpeakerRules } from '../../core/context-policy.ts'
import type { Item, Message, Part } from '../../core/item.ts'
import {
  readClientGivenAuthor,
  matchesAuthor,
  setGatewayFields,
  type ItemAuthor,
} from '../../core/items/gateway-fields.ts'
import { isTextWithoutNotice } from '../../core/text/gateway-notice.ts'
import { sanitizeName, MAX_NAME_CHARS, truncateName } from '../../core/text/sanitize-name.ts'
import { editItems, type ItemEdit } from '../edit-items.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export type SpeakerLabelOptions = Pick<SpeakerRules, 'persona' | 'actAs'> & {
  readonly names: 'prefix' | 'name' | 'none'
  /**
   * True if assistant messages also get the name of their author before the text, unless there is a persona or
   * `act_as`.
   */
  readonly labelsAssistants: boolean
}

/**
 * Decides from the policy where messages get the name of their author. With `names: auto`, it is the wire's field for
 * names if there is one (`hasNameField`), otherwise the text. With `names: name`, it is only that field.
 */
export function resolveSpeakerLabelOptions(
  { names, persona, actAs }: SpeakerRules,
  hasNameField: boolean,
): SpeakerLabelOptions {
  const automatic = hasNameField ? 'name' : names === 'auto' ? 'prefix' : 'none'
  const isFixed = names === 'prefix' || names === 'none'
  return {
    names: isFixed ? names : automatic,
    labelsAssistants: names === 'prefix',
    persona,
    actAs,
  }
}

export function labelSpeakersAndAssignRoles(options: SpeakerLabelOptions): Transform {
  return {
    name: 'tell-speakers',
    ...(options.actAs === null ? { requiredTraits: ITEM_TRAITS.author } : {}),
    prefixChanges: 'never',
    run(items) {
      // Without `act_as`, only messages with an author get a name or another role.
      const isNeeded =
        options.actAs !== null || items.some((item) => readClientGivenAuthor(item) !== null)
      if (!isNeeded) return { items, notes: [] }
      const edits = items.map((item) => labelItem(item, options))
      const isForeignReasoning = findForeignReasoning(items, edits)
      return editItems(items, (_, index) =>
        isForeignReasoning[index] === true
          ? { replacement: null, why: 'reasoning-of-another-speaker' }
          : (edits[index] ?? null),
      )
    },
  }
}

function labelItem(item: Item, options: SpeakerLabelOptions): ItemEdit | null {
  if (item.type !== 'message') return null
  const { role: original } = item
  if (original !== 'user' && original !== 'assistant') return null
  const author = readClientGivenAuthor(item)
  const role = chooseRole(original, author, options)
  // Returns early for most messages, which have no author and keep their role.
  if (author === null && role === original) return null
  const isTurned = role !== original
  const message = isTurned ? changeRole(role, item) : item
  const why = options.names === 'none' ? 'speaker-not-named' : 'speaker-named'
  return {
    replacement: labelMessage(message, author, isTurned, options),
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
  // An assistant message without an author counts as written by the persona, even if the model now plays another author.
  const isPersona = isUser && isTurned && persona !== null
  const speaker = author ?? (isPersona ? { id: null, name: persona } : null)
  if (speaker === null) return message
  if (names === 'name') return setNameField(message, speaker)
  const isLabeled = isUser || (labelsAssistants && persona === null && actAs === null)
  return isLabeled ? prependLabel(message, author, formatSpeakerLabel(speaker)) : message
}

/** Puts the speaker's label before the first text of the message that is no notice of the gateway. */
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
  // A name that the client has set stays unchanged, even with characters that a label could not contain.
  if (chat?.['name'] === author.name && author.name !== null) return message
  const name = formatSpeakerForNameField(author)
  if (name === '' || chat?.['name'] === name) return message
  return { ...message, native: { ...message.native, chat: { ...chat, name } } }
}

/**
 * Stops sending the author's name without losing it: moves it from the field `name`, which is sent, to the gateway's
 * field `author`, which is not sent.
 */
function removeNameField(message: Message, author: ItemAuthor | null): Message {
  const { chat, ...others } = message.native ?? {}
  if (chat?.['name'] === undefined) return message
  const { name: _name, ...rest } = chat
  const native = Object.keys(rest).length === 0 ? others : { ...others, chat: rest }
  const unnamed: Message = { ...message, native }
  if (author === null) return unnamed
  const fields = Object.entries(author).filter(([, value]) => value !== null)
  return setGatewayFields(unnamed, { author: Object.fromEntries(fields) })
}

/**
 * Returns for each item whether it is reasoning that must be dropped, because it led to a message which is now sent
 * with the role `user`.
 */
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

/**
 * Returns the text that names an author before a message, e.g. `Ann`: the name, or the id if there is no name, without
 * special characters and with at most 64 characters. May be empty.
 */
export function formatSpeakerLabel({ name, id }: ItemAuthor): string {
  const label = sanitizeName(name ?? id ?? '', UNSAFE_IN_LABEL)
  return label.length <= MAX_NAME_CHARS ? label : truncateName(label)
}

/**
 * Matches characters with which a name could imitate another label, a notice or a line: brackets, `:`, `|`, white space
 * and invisible characters.
 */
const UNSAFE_IN_LABEL = /[[\]<>{}()|:：\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Returns the author's name for OpenAI's field `name`, e.g. `Ann_Lee` for Ann Lee. The field allows no white space,
 * `<`, `|`, `\` and `/`.
 */
export function formatSpeakerForNameField(author: ItemAuthor): string {
  return formatSpeakerLabel(author).replace(/[\s\\/]+/g, '_')
}

/** Puts a label before a text, e.g. `Ann` and `hello` → `Ann: hello`. A text that begins with `Ann:` stays the same. */
export function prefixWithSpeakerLabel(label: string, text: string): string {
  const begin = `${label}:`
  return label === '' || text.trimStart().startsWith(begin) ? text : `${begin} ${text}`
}
