/**
 * Creates the notice that replaces media which a model is not sent. The text is the same in every
 * turn, so that the provider's cache stays valid.
 */
import { createNoticePart, type NoticePart } from '../core/text/gateway-notice.ts'

export function createHiddenMediaNotice(what: string, why: string): NoticePart {
  return createNoticePart(`A medium (${what}) that was here is not shown: ${why}.`)
}
