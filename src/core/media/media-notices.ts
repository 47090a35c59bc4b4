/**
 * Creates the notices that replace hidden media. The text is the same whether the message window or the
 * max number of images hides a medium, because the reason can change from one request to the next, and a
 * changed text would invalidate the prompt cache.
 */
import { createNoticePart, type NoticePart } from '../text/gateway-notice.ts'
import type { TextPart } from '../item.ts'
import type { MediaHandles } from './media-handles.ts'
import type { MediaKind } from './content-part-media.ts'

/** Name of the tool with which a model requests a hidden medium by its handle. */
export const VIEW_MEDIA_TOOL = 'view_media'

export interface HiddenMediaGroup {
  readonly kind: MediaKind
  /**
   * `older`: only later media are sent. `repeated`: the same medium comes again later. `unseen`: the
   * model does not support the kind.
   */
  readonly why: 'older' | 'repeated' | 'unseen'
  readonly identities: readonly string[]
}

export interface MediaNoticeOptions {
  readonly handles: MediaHandles
  /** True if the model is offered the tool that shows hidden media. */
  readonly canView: boolean
  readonly partType?: TextPart['type']
}

export function createHiddenMediaGroupNotice(
  { kind, why, identities }: HiddenMediaGroup,
  { handles, canView, partType = 'input_text' }: MediaNoticeOptions,
): NoticePart {
  const names = namesOf(identities, handles)
  const pronouns = identities.length === 1 ? ONE : SEVERAL
  const canRequest = canView && why === 'older' && names !== ''
  const hint = canRequest ? ` The tool ${VIEW_MEDIA_TOOL} shows ${pronouns.them}.` : ''
  return createNoticePart(
    `${subjectOf(kind, identities.length, names)} ${REASONS[why](pronouns, kind)}${hint}`,
    { partType, mediaKind: kind, mediaIdentities: identities },
  )
}

/** Creates the notice before images that are sent with a user message, but come from the answer before it. */
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

const ONE = { they: 'It', them: 'it', are: 'is', come: 'comes', show: 'shows' }
const SEVERAL = { they: 'They', them: 'them', are: 'are', come: 'come', show: 'show' }

const REASONS: Readonly<
  Record<HiddenMediaGroup['why'], (pronouns: typeof ONE, kind: MediaKind) => string>
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
