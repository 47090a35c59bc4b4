/** Lists the transforms that decide which media are sent. Policies count rounds as turns (`keepTurns`). */
import type { Item } from '../../core/item.ts'
import { MEDIA_KINDS, type MediaKind } from '../../core/media/content-part-media.ts'
import type { MediaRules } from '../../core/context-policy.ts'
import { reshowGeneratedImages } from './reshow-generated-images.ts'
import { replaceHiddenMedia } from './replace-hidden-media.ts'
import type { Transform } from '../transform-interface.ts'

interface MediaTransformOptions {
  readonly rules: MediaRules
  /** True if tool outputs are sent unshortened. */
  readonly outputsStay?: boolean
  readonly sees?: ReadonlySet<MediaKind> | undefined
  readonly conversation?: readonly Item[] | undefined
}

export function listVisibilityTransforms({
  rules,
  outputsStay = true,
  sees = ALL_KINDS,
  conversation,
}: MediaTransformOptions): readonly Transform[] {
  const { window, keepTurns, imageMessages, images, repeated, bytes, reuse, view } = rules
  const showsAll =
    [window, keepTurns, imageMessages, images, bytes].every((limit) => limit === null) &&
    repeated === 'all'
  const reuses = reuse === 'user_then_assistant' && sees.has('image')
  if (showsAll && !reuses && sees.size === ALL_KINDS.size) return []
  const handles = conversation === undefined ? {} : { conversation }
  const reused = Math.min(images ?? MAX_REUSED_IMAGES, MAX_REUSED_IMAGES)
  return [
    // Generated images are added first, so that the limits count them.
    ...(reuses ? [reshowGeneratedImages({ images: reused, ...handles })] : []),
    replaceHiddenMedia({ rules, outputsStay, sees, canView: view, ...handles }),
  ]
}

const ALL_KINDS: ReadonlySet<MediaKind> = new Set(MEDIA_KINDS)

/** Max number of images of the previous answer that are added to one question. */
const MAX_REUSED_IMAGES = 5
