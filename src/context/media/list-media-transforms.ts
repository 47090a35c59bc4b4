/**
 * Lists the transforms that decide which media are sent: one adds images of answers to questions, the other replaces
 * media by notices.
 */
import type { Item } from '../../core/item.ts'
import { MEDIA_KINDS, type MediaKind } from '../../core/media/content-part-media.ts'
import { addAnswerImagesToNextQuestion } from './add-answer-images-to-next-question.ts'
import { replaceHiddenMedia } from './replace-hidden-media.ts'
import type { MediaRules } from '../../core/context-policy.ts'
import type { OldImageFinder } from './select-media-to-hide.ts'
import type { Transform } from '../transform-interface.ts'

interface MediaTransformOptions {
  readonly rules: MediaRules
  readonly findOldImages?: OldImageFinder
  readonly acceptedMediaKinds?: ReadonlySet<MediaKind> | undefined
  readonly conversation?: readonly Item[] | undefined
}

export function listMediaTransforms({
  rules,
  findOldImages,
  acceptedMediaKinds = ALL_KINDS,
  conversation,
}: MediaTransformOptions): readonly Transform[] {
  const { window, keepTurns, imageMessages, images, repeated, bytes, reuse } = rules
  const showsAll =
    [window, keepTurns, imageMessages, images, bytes].every((limit) => limit === null) &&
    repeated === 'all'
  const reuses = reuse === 'user_then_assistant' && acceptedMediaKinds.has('image')
  if (showsAll && !reuses && acceptedMediaKinds.size === ALL_KINDS.size) return []
  const reused = Math.min(images ?? MAX_REUSED_IMAGES, MAX_REUSED_IMAGES)
  return [
    // Images of answers are added first, so that the limits on media count them.
    ...(reuses ? [addAnswerImagesToNextQuestion({ maxImages: reused, conversation })] : []),
    replaceHiddenMedia({ rules, findOldImages, acceptedMediaKinds, conversation }),
  ]
}

const ALL_KINDS: ReadonlySet<MediaKind> = new Set(MEDIA_KINDS)

/** Max number of images of an answer that are added to the next question. */
const MAX_REUSED_IMAGES = 5
