// Temporal's SDK loads this by its path. Messages and stacks of failures become a payload, so that the codec encrypts
// them: they can contain a partner's answer.
const { DefaultFailureConverter } = require('@temporalio/common')

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true })
