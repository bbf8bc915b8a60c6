// Temporal's SDK loads this by its path. Messages and stacks of failures become a payload, so that the codec encrypts them:
// what a partner answered may stand in them.
const { DefaultFailureConverter } = require('@temporalio/common')

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true })
