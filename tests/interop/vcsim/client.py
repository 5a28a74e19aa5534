"""Reads the virtual machines of vcsim through the gateway, with the client that openapi-python-client makes from its document.

    client.py GATEWAY-URL MACHINES

MACHINES is the number of each host and cluster. Fails unless all is as expected.
"""

import sys

from vim_client import Client
from vim_client.api.vim_service_vim_port import (
    create_container_view,
    destroy_view,
    login,
    logout,
    retrieve_properties_ex,
    retrieve_service_content,
)
from vim_client.models import (
    CreateContainerView,
    Login,
    ManagedObjectReference,
    ObjectSpec,
    Problem,
    PropertyFilterSpec,
    PropertySpec,
    RetrieveOptions,
    RetrievePropertiesEx,
    This,
    TypedTraversalSpec,
)


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def answered(operation, client, body):
    """Returns what is answered, unless it is a problem."""
    answer = operation.sync(client=client, body=body)
    if answer is None or isinstance(answer, Problem):
        raise AssertionError(f"expected an answer, got {answer!r}")
    return answer


def refused(operation, client, body):
    """Expects a fault of the service."""
    answer = operation.sync(client=client, body=body)
    expect((type(answer), getattr(answer, "type_", None)), (Problem, "urn:deltasoap:problem:fault"))


def selection(view, properties):
    """Selects properties of the machines in a view. The step into the view is of a derived type, whose name is an additional property."""
    into_view = TypedTraversalSpec(type_="ContainerView", path="view")
    into_view["$type"] = "TraversalSpec"
    return PropertyFilterSpec(
        prop_set=[PropertySpec(type_="VirtualMachine", path_set=properties)],
        object_set=[ObjectSpec(obj=view, skip=True, select_set=[into_view])],
    )


def expected_names(count):
    """Returns the names that vcsim gives its machines."""
    return sorted(f"{name}{number}" for name in ("DC0_H0_VM", "DC0_C0_RP0_VM") for number in range(count))


def main():
    url, machines = sys.argv[1:]
    # It keeps cookies, and the session is one.
    with Client(base_url=url, timeout=60) as client:
        this = ManagedObjectReference(type_="ServiceInstance", field_="ServiceInstance")
        content = answered(retrieve_service_content, client, This(field_this=this)).returnval
        manager = content.session_manager
        view = CreateContainerView(
            field_this=content.view_manager, container=content.root_folder, type_=["VirtualMachine"], recursive=True
        )
        refused(create_container_view, client, view)
        user = answered(login, client, Login(field_this=manager, user_name="user", password="pass")).returnval
        expect(user.user_name, "user")
        created = answered(create_container_view, client, view).returnval
        spec = selection(created, ["name", "config.hardware.numCPU"])
        retrieve = RetrievePropertiesEx(field_this=content.property_collector, spec_set=[spec], options=RetrieveOptions())
        found = answered(retrieve_properties_ex, client, retrieve).returnval.objects
        properties = [{each.name: each.val["$"] for each in machine.prop_set} for machine in found]
        expect(sorted(each["name"] for each in properties), expected_names(int(machines)))
        expect({each["config.hardware.numCPU"] for each in properties}, {1})
        expect({machine.obj.type_ for machine in found}, {"VirtualMachine"})
        answered(destroy_view, client, This(field_this=created))
        answered(logout, client, This(field_this=manager))
        refused(retrieve_properties_ex, client, retrieve)
    print(f"Python: {len(found)} virtual machines of {content.about.full_name}")


if __name__ == "__main__":
    main()
