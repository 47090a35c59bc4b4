/**
 * Creates the notice that a model gets instead of media that is not sent. The text is the same in
 * every turn, so that the provider can reuse its cache.
 */
import { createNoticePart, type NoticePart } from '../core/text/gateway-notice.ts'

export function createHiddenMediaNotice(kind: string, reason: string): NoticePart {
  return createNoticePart(`A medium (${kind}) that was here is not shown: ${reason}.`)
}
