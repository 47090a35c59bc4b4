/**
 * Creates the notices that replace hidden media. Media beyond the message window and media beyond the
 * max count get the same text, because the first reason can turn into the second between two turns.
 */
import { createNoticePart, type NoticePart } from '../text/gateway-notice.ts'
import type { TextPart } from '../item.ts'
import type { MediaHandles } from './media-handles.ts'
import type { MediaKind } from './content-part-media.ts'

/** Name of the tool that shows a medium by its handle. */
export const VIEW_MEDIA = 'view_media'

export interface HiddenMediaGroup {
  readonly kind: MediaKind
  /** `older`: only later media are shown. `repeated`: shown again later. `unseen`: the model does not support the kind. */
  readonly why: 'older' | 'repeated' | 'unseen'
  readonly identities: readonly string[]
}

export interface MediaNoticeOptions {
  readonly handles: MediaHandles
  /** True if the model is offered the tool. */
  readonly canView: boolean
  readonly type?: TextPart['type']
}

export function createHiddenMediaGroupNotice(
  { kind, why, identities }: HiddenMediaGroup,
  { handles, canView, type = 'input_text' }: MediaNoticeOptions,
): NoticePart {
  const names = namesOf(identities, handles)
  const are = identities.length === 1 ? ONE : SEVERAL
  const hint = canView && why === 'older' && names !== '' ? ` ${are.view}` : ''
  return createNoticePart(
    `${subjectOf(kind, identities.length, names)} ${REASONS[why](are, kind)}${hint}`,
    { type, kind, standsFor: identities },
  )
}

/** Creates the notice before images of an answer that are shown again with the next user message. */
export function createReusedImageNotice(
  identities: readonly string[],
  handles: MediaHandles,
): NoticePart {
  const names = namesOf(identities, handles)
  const subject =
    identities.length === 1
      ? `The image that follows${names} is`
      : `The ${identities.length} images that follow${names} are`
  return createNoticePart(`${subject} from the assistant’s last answer, not from the user.`)
}

function namesOf(identities: readonly string[], handles: MediaHandles): string {
  const names = new Set(identities.flatMap((identity) => handles.get(identity) ?? []))
  return names.size === 0 ? '' : ` (${[...names].join(', ')})`
}

function subjectOf(kind: MediaKind, count: number, names: string): string {
  const { one, several } = KINDS[kind]
  return count === 1 ? `${one}${names} was here.` : `${count} ${several}${names} were here.`
}

interface Pronouns {
  readonly they: string
  readonly them: string
  readonly view: string
  readonly are: string
  readonly come: string
  readonly show: string
}

const ONE: Pronouns = {
  they: 'It',
  them: 'it',
  are: 'is',
  come: 'comes',
  show: 'shows',
  view: `The tool ${VIEW_MEDIA} shows it.`,
}

const SEVERAL: Pronouns = {
  they: 'They',
  them: 'them',
  are: 'are',
  come: 'come',
  show: 'show',
  view: `The tool ${VIEW_MEDIA} shows them.`,
}

const REASONS: Readonly<
  Record<HiddenMediaGroup['why'], (words: Pronouns, kind: MediaKind) => string>
> = {
  older: ({ they, them, are }) =>
    `${they} ${are} not shown any more, because only newer ones are. Do not describe ${them} as if you saw ${them}.`,
  repeated: ({ they, come }) => `${they} ${come} again later in this conversation.`,
  unseen: ({ they, them, show }, kind) =>
    `You cannot ${KINDS[kind].sense} ${them}. Do not describe ${them}, and do not guess what ${they.toLowerCase()} ${show}.`,
}

const KINDS = {
  image: { one: 'An image', several: 'images', sense: 'see' },
  audio: { one: 'An audio recording', several: 'audio recordings', sense: 'hear' },
  video: { one: 'A video', several: 'videos', sense: 'see' },
  file: { one: 'A file', several: 'files', sense: 'read' },
} as const
