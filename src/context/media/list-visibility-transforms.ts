/** Which transforms see to the media of a conversation. */
import type { Item } from '../../core/item.ts'
import { MEDIA_KINDS, type MediaKind } from '../../core/media/content-part-media.ts'
import type { MediaRules } from '../../core/context-policy.ts'
import { reshowGeneratedImages } from './reshow-generated-images.ts'
import { replaceHiddenMedia } from './replace-hidden-media.ts'
import type { Transform } from '../transform-interface.ts'

interface MediaPlan {
  readonly rules: MediaRules
  /** Whether outputs of tools are sent as they are. */
  readonly outputsStay?: boolean
  readonly sees?: ReadonlySet<MediaKind> | undefined
  readonly conversation?: readonly Item[] | undefined
}

export function listVisibilityTransforms({
  rules,
  outputsStay = true,
  sees = ALL,
  conversation,
}: MediaPlan): readonly Transform[] {
  const { window, keepTurns, imageMessages, images, repeated, bytes, reuse, view } = rules
  const showsAll =
    [window, keepTurns, imageMessages, images, bytes].every((limit) => limit === null) &&
    repeated === 'all'
  const reuses = reuse === 'user_then_assistant' && sees.has('image')
  if (showsAll && !reuses && sees.size === ALL.size) return []
  const whole = conversation === undefined ? {} : { conversation }
  return [
    // Before they are counted.
    ...(reuses
      ? [reshowGeneratedImages({ images: Math.min(images ?? MOST_REUSED, MOST_REUSED), ...whole })]
      : []),
    replaceHiddenMedia({ rules, outputsStay, sees, canView: view, ...whole }),
  ]
}

const ALL: ReadonlySet<MediaKind> = new Set(MEDIA_KINDS)

/** With one question. */
const MOST_REUSED = 5
