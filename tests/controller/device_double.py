"""A device that speaks p4.v1 and keeps the requests it gets, for tests of the session."""

import contextlib
from concurrent import futures

import grpc
from google.protobuf import any_pb2
from google.rpc import status_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc


class DeviceDouble(p4runtime_pb2_grpc.P4RuntimeServicer):
    """Remembers program and entries. `refuse_table` refuses entries of that table, one by one."""

    def __init__(self):
        self.config = None
        self.entries = []
        self.kinds = []
        self.refuse_table = None
        self.highest_election_id = 0

    def StreamChannel(self, requests, context):
        for request in requests:
            election_id = request.arbitration.election_id.low
            answer = p4runtime_pb2.StreamMessageResponse()
            answer.arbitration.device_id = request.arbitration.device_id
            if election_id < self.highest_election_id:
                answer.arbitration.status.code = grpc.StatusCode.ALREADY_EXISTS.value[0]
            self.highest_election_id = max(self.highest_election_id, election_id)
            answer.arbitration.election_id.low = self.highest_election_id
            yield answer

    def SetForwardingPipelineConfig(self, request, context):
        if request.config.p4_device_config == b"broken":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "program.json:1: not JSON")
        self.config = request.config
        return p4runtime_pb2.SetForwardingPipelineConfigResponse()

    def GetForwardingPipelineConfig(self, request, context):
        return p4runtime_pb2.GetForwardingPipelineConfigResponse(config=self.config)

    def Write(self, request, context):
        errors = []
        for update in request.updates:
            entry = update.entity.table_entry
            error = p4runtime_pb2.Error()
            if entry.table_id == self.refuse_table:
                error.canonical_code = grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
                error.message = "the table is full"
            else:
                self.entries.append(entry)
                self.kinds.append(update.type)
            errors.append(error)
        if any(error.canonical_code for error in errors):
            self._abort_with(context, errors)
        return p4runtime_pb2.WriteResponse()

    def Read(self, request, context):
        wanted = request.entities[0].table_entry.table_id
        answer = p4runtime_pb2.ReadResponse()
        if request.entities[0].HasField("counter_entry"):
            # Cell N has counted N packets of 100 bytes.
            counter = answer.entities.add().counter_entry
            counter.CopyFrom(request.entities[0].counter_entry)
            counter.data.packet_count = counter.index.index
            counter.data.byte_count = 100 * counter.index.index
        for entry in self.entries:
            if entry.table_id == wanted:
                answer.entities.add().table_entry.CopyFrom(entry)
        yield answer

    def _abort_with(self, context, errors):
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0])
        for error in errors:
            detail = any_pb2.Any()
            detail.Pack(error)
            status.details.append(detail)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, "some updates failed")


@contextlib.contextmanager
def serving(servicer, *handlers):
    """The address at which doubles answer for the length of a `with` block."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    p4runtime_pb2_grpc.add_P4RuntimeServicer_to_server(servicer, server)
    server.add_generic_rpc_handlers(handlers)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(grace=None).wait()
