/**
 * What a model is told where a medium stood that it is not shown. The words depend on nothing that
 * changes from turn to turn: what is out of the window and what is one too many are told alike, for
 * the first goes over into the second.
 */
import { createNoticePart, type NoticePart } from '../text/gateway-notice.ts'
import type { TextPart } from '../item.ts'
import type { MediaHandles } from './media-handles.ts'
import type { MediaKind } from './content-part-media.ts'

/** What the tool is called that shows a medium by its handle. */
export const VIEW_MEDIA = 'view_media'

export interface HiddenMediaGroup {
  readonly kind: MediaKind
  /** `older`: only newer ones are shown. `repeated`: it comes again later. `unseen`: the model is blind to it. */
  readonly why: 'older' | 'repeated' | 'unseen'
  readonly identities: readonly string[]
}

export interface MediaNoticeOptions {
  readonly handles: MediaHandles
  /** Whether the model is offered the tool. */
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

/** In front of images from an answer that are shown with the question behind it. */
export function createReusedImageNotice(
  identities: readonly string[],
  handles: MediaHandles,
): NoticePart {
  const names = namesOf(identities, handles)
  const what =
    identities.length === 1
      ? `The image that follows${names} is`
      : `The ${identities.length} images that follow${names} are`
  return createNoticePart(`${what} from the assistant’s last answer, not from the user.`)
}

function namesOf(identities: readonly string[], handles: MediaHandles): string {
  const names = new Set(identities.flatMap((identity) => handles.get(identity) ?? []))
  return names.size === 0 ? '' : ` (${[...names].join(', ')})`
}

function subjectOf(kind: MediaKind, count: number, names: string): string {
  const { one, several } = KINDS[kind]
  return count === 1 ? `${one}${names} was here.` : `${count} ${several}${names} were here.`
}

interface Words {
  readonly they: string
  readonly them: string
  readonly view: string
  readonly are: string
  readonly come: string
  readonly show: string
}

const ONE: Words = {
  they: 'It',
  them: 'it',
  are: 'is',
  come: 'comes',
  show: 'shows',
  view: `The tool ${VIEW_MEDIA} shows it.`,
}

const SEVERAL: Words = {
  they: 'They',
  them: 'them',
  are: 'are',
  come: 'come',
  show: 'show',
  view: `The tool ${VIEW_MEDIA} shows them.`,
}

const REASONS: Readonly<
  Record<HiddenMediaGroup['why'], (words: Words, kind: MediaKind) => string>
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
