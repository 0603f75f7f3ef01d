// How the objects of the library cross from one session to another (runtime/session/parcel.h).
#pragma once

namespace gasell {

/// Says it for all of them; further calls do nothing.
void register_carried_library();

// Those whose classes are in files of their own.
void register_carried_methods();      // library.cpp
void register_carried_functools();    // functools.cpp
void register_carried_collections();  // collections.cpp
void register_carried_deques();       // deque.cpp
void register_carried_named();        // named_tuple.cpp

}  // namespace gasell
