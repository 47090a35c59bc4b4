/**
 * Shows a model a picture, or another medium, that it was told of by name only. It is offered from the
 * first medium of a conversation on, whether or not one is left out already: a list of tools that
 * changes once is the least that can be had. A model that is blind to all of them is not offered it.
 */
import { listMedia, findMediaByHandle } from '../../core/media/media-handles.ts'
import { VIEW_MEDIA } from '../../core/media/media-notices.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const viewMediaTool: GatewayTool = {
  tool: {
    type: 'function',
    name: VIEW_MEDIA,
    description:
      'Shows an image or another medium of this conversation that is not shown any more. Where it was, a note names its handle.',
    parameters: {
      type: 'object',
      properties: { handle: { type: 'string', description: 'Its name, such as media_1.' } },
      required: ['handle'],
      additionalProperties: false,
    },
    strict: false,
  },
  isOffered: ({ policy, items, sees }) =>
    policy.media.view && listMedia(items).some(({ kind }) => sees.has(kind)),
  run({ handle }, { items, withinReach }) {
    if (typeof handle !== 'string') return '`handle` must be a string.'
    const part = findMediaByHandle(items, handle, withinReach)
    if (part === null) return `There is no ${JSON.stringify(handle.slice(0, 64))} here.`
    return [{ type: 'input_text', text: `This is ${handle}:` }, part]
  },
}
