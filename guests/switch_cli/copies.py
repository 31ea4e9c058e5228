"""Where copies go: multicast groups and clone sessions."""

from __future__ import annotations

import json
from typing import Any

from bm_runtime.simple_pre_lag.ttypes import InvalidMcOperation, McOperationErrorCode
from sswitch_runtime.ttypes import MirroringSessionConfig

from . import values
from .command import Commands, command
from .mistakes import Mistake


def _map(numbers: tuple[str, ...], what: str) -> str:
    """Write numbers as a text of 0 and 1, the lowest number last."""
    try:
        places = [int(number) for number in numbers]
    except ValueError:
        raise Mistake(f"'{' '.join(numbers)}' are not {what} numbers") from None
    if len(set(places)) < len(places) or min(places, default=0) < 0:
        raise Mistake(f"'{' '.join(numbers)}' are not different {what} numbers")
    return "".join(
        "1" if place in places else "0" for place in range(max(places, default=-1), -1, -1)
    )


class CopyCommands(Commands):
    """Commands about copies."""

    def _mc(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self.mc_client, method)(0, *arguments)
        except InvalidMcOperation as error:
            code = McOperationErrorCode._VALUES_TO_NAMES.get(error.code, error.code)
            raise Mistake(f"Invalid PRE operation ({code})") from None

    @command(1)
    def do_mc_mgrp_create(self, group: str) -> None:
        """Add a multicast group: mc_mgrp_create <group id>."""
        number = values.number(group, "multicast group id")
        print("Creating multicast group", number)
        self._mc("bm_mc_mgrp_create", number)

    @command(1)
    def do_mc_mgrp_destroy(self, group: str) -> None:
        """Remove a multicast group: mc_mgrp_destroy <group id>."""
        number = values.number(group, "multicast group id")
        print("Destroying multicast group", number)
        self._mc("bm_mc_mgrp_destroy", number)

    @staticmethod
    def _places(words: tuple[str, ...]) -> tuple[str, str]:
        at = words.index("|") if "|" in words else len(words)
        return _map(words[:at], "port"), _map(words[at + 1 :], "lag")

    @command(1, None)
    def do_mc_node_create(self, rid: str, *words: str) -> None:
        """Add a node: mc_node_create <rid> <ports> [ | <lags> ]."""
        number, (ports, lags) = values.number(rid, "rid"), self._places(words)
        print("Creating node with rid", number, ", port map", ports, "and lag map", lags)
        handle = self._mc("bm_mc_node_create", number, ports, lags)
        print("node was created with handle", handle)

    @command(2, None)
    def do_mc_node_update(self, node: str, *words: str) -> None:
        """Change a node: mc_node_update <node handle> <ports> [ | <lags> ]."""
        handle, (ports, lags) = values.number(node, "node handle"), self._places(words)
        print("Updating node", handle, "with port map", ports, "and lag map", lags)
        self._mc("bm_mc_node_update", handle, ports, lags)

    @command(2)
    def do_mc_node_associate(self, group: str, node: str) -> None:
        """Put a node into a group: mc_node_associate <group id> <node handle>."""
        number = values.number(group, "multicast group id")
        handle = values.number(node, "node handle")
        print("Associating node", handle, "to multicast group", number)
        self._mc("bm_mc_node_associate", number, handle)

    @command(2)
    def do_mc_node_dissociate(self, group: str, node: str) -> None:
        """Take a node out of a group: mc_node_dissociate <group id> <node handle>."""
        number = values.number(group, "multicast group id")
        handle = values.number(node, "node handle")
        print("Dissociating node", handle, "from multicast group", number)
        self._mc("bm_mc_node_dissociate", number, handle)

    @command(1)
    def do_mc_node_destroy(self, node: str) -> None:
        """Remove a node: mc_node_destroy <node handle>."""
        handle = values.number(node, "node handle")
        print("Destroying node", handle)
        self._mc("bm_mc_node_destroy", handle)

    @command(1, None)
    def do_mc_set_lag_membership(self, lag: str, *ports: str) -> None:
        """Set the ports of a lag: mc_set_lag_membership <lag index> <ports>."""
        index, port_map = values.number(lag, "lag index"), _map(ports, "port")
        print("Setting lag membership:", index, "<-", port_map)
        self._mc("bm_mc_set_lag_membership", index, port_map)

    @command(0)
    def do_mc_dump(self) -> None:
        """Show all multicast groups: mc_dump."""
        found = json.loads(self._mc("bm_mc_get_entries"))
        first = {node["handle"]: node for node in found["l1_handles"]}
        second = {node["handle"]: node for node in found["l2_handles"]}
        print("==========\nMC ENTRIES")
        for group in found["mgrps"]:
            print(f"**********\nmgrp({group['id']})")
            for handle in group["l1_handles"]:
                node = second[first[handle]["l2_handle"]]
                ports = ", ".join(map(str, node["ports"]))
                lags = ", ".join(map(str, node["lags"]))
                print(
                    f"  -> (L1h={handle}, rid={first[handle]['rid']}) "
                    f"-> (ports=[{ports}], lags=[{lags}])"
                )
        print("==========\nLAGS")
        for lag in found["lags"]:
            print(f"lag({lag['id']}) -> ports=[{', '.join(map(str, lag['ports']))}]")
        print("==========")

    @command(2)
    def do_mirroring_add(self, session: str, port: str) -> None:
        """Send clones to a port: mirroring_add <mirror id> <egress port>."""
        config = MirroringSessionConfig(port=values.number(port, "egress_port"))
        number = values.number(session, "mirror_id")
        self.sswitch_client.mirroring_session_add(number, config)

    @command(2)
    def do_mirroring_add_mc(self, session: str, group: str) -> None:
        """Send clones to a multicast group: mirroring_add_mc <mirror id> <group id>."""
        config = MirroringSessionConfig(mgid=values.number(group, "mgrp"))
        number = values.number(session, "mirror_id")
        self.sswitch_client.mirroring_session_add(number, config)

    @command(1)
    def do_mirroring_delete(self, session: str) -> None:
        """Remove a clone session: mirroring_delete <mirror id>."""
        self.sswitch_client.mirroring_session_delete(values.number(session, "mirror_id"))

    @command(1)
    def do_mirroring_get(self, session: str) -> None:
        """Show a clone session: mirroring_get <mirror id>."""
        print(self.sswitch_client.mirroring_session_get(values.number(session, "mirror_id")))
