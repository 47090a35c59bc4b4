/** What stands for a medium that a model is not shown. It says nothing that changes from turn to turn. */
import { createNoticePart, type NoticePart } from '../core/text/gateway-notice.ts'

export function createHiddenMediaNotice(what: string, why: string): NoticePart {
  return createNoticePart(`A medium (${what}) that was here is not shown: ${why}.`)
}
