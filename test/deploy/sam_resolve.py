"""Prints what `sam local invoke` would run, as the SAM CLI itself resolves it up to the container.

usage: sam_resolve.py TEMPLATE ENV_VARS
"""

import json
import os
import sys
from unittest.mock import Mock

from samcli.commands.local.cli_common.invoke_context import InvokeContext
from samcli.local.docker.container_client_factory import ContainerClientFactory

template, env_vars = map(os.path.abspath, sys.argv[1:])  # as the command line makes them
# The one thing that is not real: a container engine that says it is there.
ContainerClientFactory.create_client = Mock()

# No function is named: the template has only one.
with InvokeContext(template, function_identifier=None, env_vars_file=env_vars) as context:
    runner = context.local_lambda_runner
    resolved = runner.get_function(context.function_identifier)
    config = runner.get_invoke_config(resolved)
    print(
        json.dumps(
            {
                "logicalId": resolved.name,
                "runtime": config.runtime,
                "handler": config.handler,
                "architecture": config.architecture,
                "code": config.code_abs_path,
                "timeoutSeconds": config.timeout,
                "memoryMb": config.memory,
                "environment": config.env_vars.resolve(),
            }
        )
    )
