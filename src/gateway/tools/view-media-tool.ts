/**
 * Gateway tool that shows a model an image or file for which the prompt has only a notice with a handle,
 * e.g. `media_1`. It is offered from the first media item of a conversation on, so that the list of tools,
 * which providers cache, changes only once. It is not offered to a model that accepts none of the media.
 */
import { listMedia, findMediaByHandle } from '../../core/media/media-handles.ts'
import { VIEW_MEDIA_TOOL } from '../../core/media/media-notices.ts'
import { createFunctionTool } from './create-function-tool.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const viewMediaTool: GatewayTool = {
  tool: createFunctionTool({
    name: VIEW_MEDIA_TOOL,
    description:
      'Shows an image or another medium of this conversation that is not shown any more. Where it was, a note names its handle.',
    properties: { handle: { type: 'string', description: 'Its name, such as media_1.' } },
    required: ['handle'],
  }),
  isOffered: ({ policy, items, visibleMediaKinds }) =>
    policy.media.view && listMedia(items).some(({ kind }) => visibleMediaKinds.has(kind)),
  run({ handle }, { items, readableItems }) {
    if (typeof handle !== 'string') return '`handle` must be a string.'
    const part = findMediaByHandle(items, handle, readableItems)
    if (part === null) return `There is no ${JSON.stringify(handle.slice(0, 64))} here.`
    return [{ type: 'input_text', text: `This is ${handle}:` }, part]
  },
}
